"""The report on a paper: statements, terms, questions, each with its quotes."""
