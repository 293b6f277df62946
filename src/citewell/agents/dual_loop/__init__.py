"""The agent of spec 001."""
