"""What runs inside other people's programs and leaves there what their agents do.

Each framework has a module of its own, and only that one imports the framework. Nothing here reads
the store or needs a library of ours: lines are added to files below the hansei home, and the next
`hansei` command takes them in.
"""

LIVE = "live"
"""The folder below the hansei home; in it one folder for each format of logs."""
