"""What a released table still says, with honest errors (DESIGN 2.3, 2.10)."""
