"""One file per heuristic; they never import one another."""
