"""Commands that read papers with a guide."""
