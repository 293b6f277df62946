"""Documents cut into chunks of a token budget."""
