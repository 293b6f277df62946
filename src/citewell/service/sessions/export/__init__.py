"""A conversation as a file: Markdown, Word, PDF, each with its citations as footnotes."""
