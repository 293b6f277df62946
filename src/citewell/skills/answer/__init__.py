"""From evidence to an answer: draft, decision, ending, citations."""
