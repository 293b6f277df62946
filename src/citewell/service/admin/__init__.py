"""Running a server: backup, users, readiness, diagnosis."""
