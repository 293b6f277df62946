"""Collections, documents, chunks and containers as rows."""
