"""An attribute whose source is known within bounds: one released alone, by a matrix made for it."""
