"""Text read off pictures."""
