"""The models that run in this process: chat, embedder, reader, and where their files come from."""
