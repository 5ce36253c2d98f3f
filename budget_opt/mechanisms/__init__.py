"""One attribute's matrix: the only home of the formulas of DESIGN 2.1 and of the sampler's integers."""
