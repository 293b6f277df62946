"""How chunks are searched: one protocol, one adapter a file."""
