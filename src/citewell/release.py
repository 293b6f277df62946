"""Which release this is: said once, for the package's metadata too (pyproject.toml)."""

__version__ = "0.1.0"
