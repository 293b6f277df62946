"""The tables of the database, built step by step."""
