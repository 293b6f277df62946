"""Is a sentence borne by the evidence? Judges, exact checks, and the proof that is shown."""
