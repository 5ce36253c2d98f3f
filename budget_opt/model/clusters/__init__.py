"""Attributes that are randomized as one: the blocks that everything that optimizes sees (DESIGN 2.9)."""
