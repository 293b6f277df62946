"""Placeholder until its part is written."""
