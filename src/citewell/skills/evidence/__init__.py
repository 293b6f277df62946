"""What is read for an answer, as numbered sentences."""
