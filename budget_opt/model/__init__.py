"""The question: attributes, cross-moments, budgets, and the arrays that solvers work on."""
