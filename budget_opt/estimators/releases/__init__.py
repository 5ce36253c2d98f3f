"""A release as every estimate sees it: read once, checked against its allocation, counted."""
