"""The star bound on many boxes at once, laid out for speed: what a global search evaluates (GLOBAL_SOLVER 2, 4)."""
