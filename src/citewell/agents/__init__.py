"""The graphs, one agent a file. The one rule: no agent imports another."""
