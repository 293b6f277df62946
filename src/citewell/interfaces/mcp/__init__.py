"""The Model Context Protocol: Citewell's work as tools that somebody else's model can call. Nothing
is imported here, since the protocol's library costs 0.7 s of start-up.
"""
