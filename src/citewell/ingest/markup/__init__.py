"""Text with marks, records and source code to readable text."""
