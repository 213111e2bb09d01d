"""One file for each way of telling which sessions had a change and which had not."""
