"""Who asks, what a request may be, and how often."""
