"""Ask an agent, search, check a text."""
