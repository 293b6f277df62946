"""What code changes in a statement that a model wrote."""
