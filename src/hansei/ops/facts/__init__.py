"""What happened in the sessions of a scope, one file per kind of fact.

Each answers with lines that sum up over sessions, every one with the places that show it.
"""
