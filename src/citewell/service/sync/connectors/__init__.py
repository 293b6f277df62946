"""What each kind of place has in it: one file a kind."""
