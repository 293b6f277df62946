"""Strings in, values out: sentences, tokens, language, numbers, dates, character sets. Imports
nothing of ours but errors.
"""
