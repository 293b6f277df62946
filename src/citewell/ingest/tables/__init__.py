"""Files of tables into a database file that is asked, and tables as lines of text."""
