"""From an allocation and a table to published files, whole or not at all."""
