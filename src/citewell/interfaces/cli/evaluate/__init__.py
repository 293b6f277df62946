"""`citewell eval` and how its figures look on a terminal."""
