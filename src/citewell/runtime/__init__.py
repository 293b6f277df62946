"""What lives as long as the process: the open App, limits, shutdown, what a user may see."""
