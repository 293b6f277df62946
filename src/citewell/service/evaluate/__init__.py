"""Quality measured on questions."""
