"""Web pages that are kept, and web search."""
