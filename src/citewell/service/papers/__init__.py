"""Reading sessions."""
