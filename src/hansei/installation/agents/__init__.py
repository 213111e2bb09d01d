"""One file per agent whose hooks we can install."""
