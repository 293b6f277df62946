"""The shape of a scientific paper: sections by role, figures, tables, equations, references."""
