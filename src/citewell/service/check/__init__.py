"""Texts held against documents: `citewell check`."""
