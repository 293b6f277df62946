"""Strings in, values out: sentences, tokens, language, numbers, dates, charsets."""
