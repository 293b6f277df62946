"""Files that hold other files."""
