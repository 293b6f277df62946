"""Connections and requests as the server sees them: limits, closing, metrics."""
