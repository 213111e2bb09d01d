"""The wording of Claude Code's records, which the programs built on it share."""
