"""What a cell is replaced by: background distributions and their effective cardinalities (DESIGN 2.1)."""
