"""One file for each way of finding something worth keeping."""
