"""Whether constraints can hold together, by cvxpy and Clarabel in log lambda, independent of the solvers."""

from __future__ import annotations

import warnings
from collections.abc import Collection

import cvxpy as cp
import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays
from budget_opt.solvers.conflicts.constraints import Constraint, System

UNCLEAR = 1e-5
"""A margin nearer to 0 than this is not judged."""


def margin_by_cvxpy(arrays: Arrays, kept: Collection[Constraint]) -> float:
    """The largest t <= 1 with floors raised and ceilings lowered by the factor exp(t); < 0: impossible.

    x = log lambda and e >= e(x) as three exponential cones; a lower bound is one of x.
    """
    part = System(arrays, frozenset(kept)).restricted
    r, m = part.cardinality, part.blocks
    x, e, t = cp.Variable(m), cp.Variable(m), cp.Variable()
    rules = [cp.exp(x) + cp.multiply(r - 1, cp.exp(x - e)) + cp.exp(-e) <= 1, x >= -25, e <= 60, t <= 1]
    least, most = rr.log_retention(part.lower, r), rr.log_retention(part.upper, r)
    rules += [x[i] >= least[i] for i in np.flatnonzero(part.lower > 0)]
    rules += [x[i] <= max(most[i], -20) for i in np.flatnonzero(np.isfinite(part.upper))]
    rules += [cp.sum(e[budget.members]) <= float(budget.cap) for budget in part.budgets]
    rules += [cp.sum(x[part.members(int(k))]) >= part.log_floor[k] + t for k in part.floors]
    rules += [cp.sum(x[part.members(int(k))]) <= part.log_ceiling[k] - t for k in part.ceilings]
    problem = cp.Problem(cp.Maximize(t), rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own accuracy, which UNCLEAR allows for
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.SolverError:
            problem.solve(solver=cp.SCS, eps=1e-8, max_iters=50000)
    return -np.inf if t.value is None else float(t.value)
