"""The agent of spec 004."""
