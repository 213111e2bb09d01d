"""What is counted in each session: whether the target came back, what it took, what came of it."""
