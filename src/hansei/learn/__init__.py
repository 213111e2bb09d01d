"""Skills: what sessions showed to work here, offered to a person, kept with its evidence.

Detectors find something worth keeping; the gate says whether it may be used; the book keeps it;
compiling hands it to the next session.
"""
