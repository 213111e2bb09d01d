"""One file per agent. The file's name is the agent's name; `SOURCE` in it is the source."""
