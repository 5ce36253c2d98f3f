"""Coarser categories: candidate groupings, hierarchies and the detail that they keep."""
