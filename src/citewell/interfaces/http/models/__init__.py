"""What lends the built-in models to other servers."""
