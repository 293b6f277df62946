"""Sessions, traces, memories."""
