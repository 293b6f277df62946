"""What a message asks, what it leans on, and whether it may be asked."""
