"""PDF files to text: characters, lines, reading order, paragraphs, headings, tables."""
