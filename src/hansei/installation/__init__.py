"""Hooks in other people's settings: found, added, taken out again, never at the cost of a byte.

An agent's file says where its settings are, which hooks its version knows, and what the settings
should read. Everything it says is a pure function of the text that is there, so that the same
function shows the difference, makes it, and finds nothing to do the second time.
"""
