"""`hansei exp`: experiments from the first word to the verdict."""
