"""All rows of one database moved into another, of the same kind or the other."""
