"""The command line: parse, call an op, print. Nothing else happens here."""
