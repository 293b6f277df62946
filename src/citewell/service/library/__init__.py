"""Add, list, read, cut and remove documents and collections."""
