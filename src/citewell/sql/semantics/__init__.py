"""What people write down of their tables: one YAML text a source."""
