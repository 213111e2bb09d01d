"""What follows from the log. All of it can be thrown away and derived again."""
