"""Judges allocations and releases; imports no solver and no randomizer."""
