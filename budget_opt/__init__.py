"""The best split of a privacy budget over the attributes of a table, proved, released and verified."""

__version__ = "0.1.0"
