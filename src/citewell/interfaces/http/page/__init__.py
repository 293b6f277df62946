"""The page and the chat element, as a browser gets them."""
