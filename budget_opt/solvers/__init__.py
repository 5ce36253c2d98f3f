"""Problem in, candidate out; one file a method, one line in `table` to add one (DESIGN 5)."""
