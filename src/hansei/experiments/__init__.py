"""Whether a change helped: who got it, what was counted, and what may be said about it."""
