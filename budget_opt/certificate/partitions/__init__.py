"""What no partition of the attributes passes: bounds by prices, over all partitions at once (DESIGN 2.9)."""
