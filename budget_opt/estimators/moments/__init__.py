"""Corrected cross-moments with standard errors."""
