"""Places that are kept in step with: their rows, and what was seen there."""
