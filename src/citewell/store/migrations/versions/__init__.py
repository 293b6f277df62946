"""The schema since SQLite and PostgreSQL share it: revisions of Alembic, one a file."""
