"""Entropy, mutual information, chi-square, G^2 and Cramer's V of the originals, and tests of independence."""
