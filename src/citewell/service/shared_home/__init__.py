"""Backup and restore of a home in PostgreSQL and an object store."""
