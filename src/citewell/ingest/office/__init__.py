"""Office files to text: Word, PowerPoint, Excel."""
