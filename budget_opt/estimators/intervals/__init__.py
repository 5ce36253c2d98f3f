"""Errors of means, intervals that cover, and when an error is too large to tell anything."""
