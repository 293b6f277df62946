"""Web pages, feeds, books and mails to text."""
