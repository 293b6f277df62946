"""A statement is run only where all of it does nothing but read the tables of its source."""
