"""Regression formulas as the moments that they need; formulas are read, never run."""
