"""OpenDocument files to text."""
