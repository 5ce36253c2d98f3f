"""Means of a scored attribute within the categories of another one, and their differences."""
