"""The functions that users call: check, solve, judge, prices, randomize, verify, estimate (DESIGN 4)."""
