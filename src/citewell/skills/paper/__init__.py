"""What a question about a paper points to, and the evidence for it."""
