"""How it is found again: strategies propose, pure functions rank and say how sure they are."""
