"""The agent of spec 003."""
