"""Regressions from a release, with honest errors (DESIGN 2.10): linear and logistic."""
