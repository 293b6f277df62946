"""What reaches a terminal: text, rows, bars, progress."""
