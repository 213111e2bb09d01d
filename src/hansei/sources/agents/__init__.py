"""One module or folder per agent. Its name is the agent's name; `SOURCE` in it is the source."""
