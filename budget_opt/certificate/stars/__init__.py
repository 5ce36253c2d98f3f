"""Upper bounds of a weighted sum on boxes: star copies, the budget multiplied in, quadratic tangents.

The mathematics is in shared/GLOBAL_SOLVER.md section 2 and shared/GLOBAL_SOLVER_PROOFS.md sections 1, 3, 4.
Letters, here and in all files of this folder: M attributes, B boxes (always the last axis), R budget-like
rows, F floors, P ordered pairs of attributes that share a term; z = lambda; L, U the ends of a box in z and v
a point in it; alpha the shares of a term's arcs; nu (R, M, B), mu (R, B), kappa (F, B) the other multipliers,
all >= 0.
"""
