"""Secrets become typed placeholders before anything is kept; see `hansei.redaction.engine`."""
