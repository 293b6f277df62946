"""Commands that ask: ask, chat, site, search, check; and what is said of an answer."""
