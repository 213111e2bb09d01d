"""What agents run: a few files that import nothing of hansei and nothing heavy.

`run` is the entry. It appends one line to the spool and is gone; whatever happens, the agent goes
on undisturbed. The rest of hansei may read the tables in here, so that each fact about an agent's
hooks stands once.
"""
