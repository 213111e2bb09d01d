"""One file per agent: a story told in that agent's own files."""
