"""Who signs in, who acts, the audit log, and what is kept of a person."""
