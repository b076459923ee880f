"""Credit units, one family per file."""
