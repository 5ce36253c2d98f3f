"""Which attributes to randomize together: partitions, their bounds by prices, and the search (DESIGN 2.9)."""
