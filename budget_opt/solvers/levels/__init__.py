"""Lexicographic priorities: the first level as good as it can be, to a tolerance, then the next."""
