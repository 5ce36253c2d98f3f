"""Covariances and correlations of all pairs of scored attributes at once, each entry with its error."""
