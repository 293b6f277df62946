"""One language job each: a full way with a chat model and, where it exists, a way without. A skill
takes what it needs as arguments and keeps nothing between calls.
"""
