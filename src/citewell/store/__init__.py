"""What is kept, and how it is searched: collections, documents, chunks, vectors, sessions, traces,
jobs. The SQL database is the truth. Everything else (the vectors in memory) follows it and can be
thrown away.
"""
