"""Which sections of a paper serve an interest, in what order, and why."""
