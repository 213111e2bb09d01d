"""One file per tool; each defines `TOOL`."""
