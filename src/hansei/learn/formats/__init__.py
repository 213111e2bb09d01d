"""Ways in which books of skills are written, one family to the file (contract: `exchange`)."""
