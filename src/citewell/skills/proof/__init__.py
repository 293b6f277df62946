"""Is a sentence of an answer borne by the evidence? Judges, exact checks, and the proof that is
shown.
"""
