"""Branch and bound for a weighted sum, the star bound on boxes of epsilon (GLOBAL_SOLVER 3, 4)."""
