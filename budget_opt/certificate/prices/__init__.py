"""What the optimum would be if a budget, floor, ceiling or bound were a little different (DESIGN 3.2)."""
