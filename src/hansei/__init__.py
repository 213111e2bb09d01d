"""hansei: an honest look back at what coding agents did, so that the next session does better."""

__version__ = "0.1.0"
