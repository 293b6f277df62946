"""What is remembered of a user, and which of it bears on a question."""
