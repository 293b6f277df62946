"""The agent of spec 002."""
