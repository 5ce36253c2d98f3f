"""Replicates of an estimate, on request."""
