"""What SQLite and PostgreSQL do differently, and one name for both."""
