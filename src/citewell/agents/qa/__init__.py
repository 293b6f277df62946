"""The agent of spec 000."""
