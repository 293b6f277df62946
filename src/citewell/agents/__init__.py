"""The graphs, one agent a folder. No agent imports another."""
