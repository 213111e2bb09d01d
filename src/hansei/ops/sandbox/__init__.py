"""A sandbox around an agent, made by bubblewrap: it may write where it works, and nowhere else.

`homes` says where agents keep their state, `walls` what is open, shut or hidden and how bubblewrap
is told, `terminal` keeps keys from being forged, `keep` runs an agent inside.
"""
