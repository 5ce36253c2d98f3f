"""Randomizing: uniform words, one column, whole tables and files (DESIGN 2.8)."""
