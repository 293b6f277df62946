"""The grammar under which the built-in model writes a statement."""
