"""The look back: heuristics find what goes wrong again and again, bets say what it is worth.

One file per heuristic in `heuristics/`; `window` is all they are given, `retro` runs them, counts
and ranks what they found. The same function serves every front end.
"""
