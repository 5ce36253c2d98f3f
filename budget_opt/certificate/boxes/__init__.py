"""The star bound on many boxes at once, laid out for the speed of a search (GLOBAL_SOLVER 2, 4)."""
