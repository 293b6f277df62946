"""Commands about what is searched: documents, collections, kept sites, jobs."""
