"""The store: one folder with SQLite for what is hot and Parquet for what is old."""
