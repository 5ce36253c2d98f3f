"""The functions that users call: solve, randomize, verify, estimate (DESIGN 4)."""
