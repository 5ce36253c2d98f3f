"""Local optima of a weighted sum under any floors, ceilings and groups: the interior-point method.

The sum enters each step by its linearization in log lambda (GLOBAL_SOLVER 1), with its curvature where the
step still descends; the constraints are convex. A point counts only if it is exactly inside, so that whatever
the method does, the best point never gets worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers.convex import brought_inside
from budget_opt.solvers.interior_point import Rules, iterate
from budget_opt.solvers.iterate import Constraints, Iterate
from budget_opt.solvers.program import Total
from budget_opt.solvers.reduction import Reduction, alive, fixed_retention, inner_start

_TOLERANCE, _STILL = 1e-9, 1e-10
"""Complementarity, and relative movement of epsilon, at which a run ends."""
_ALMOST_ZERO = 1e-9
"""Of an even share of the budget; nobody notices the difference to 0."""
_RULES = Rules(iterations=120, tolerance=1e-10, largest_step=2.0)


@dataclass
class Best:
    """The best point inside all constraints so far; `epsilon` (M,), None before there is one."""

    arrays: Arrays
    epsilon: FloatArray | None = None
    value: float = float("nan")

    def offer(self, epsilon: FloatArray) -> bool:
        """Keep the point (M,) if it is inside everything and better; True where it was kept."""
        if not keeps_all(self.arrays, epsilon):
            return False
        reached = objective_value(self.arrays, epsilon)
        if self.epsilon is None or reached > self.value:
            self.epsilon, self.value = epsilon, reached
            return True
        return False

    def as_good(self, epsilon: FloatArray) -> bool:
        """True where the point (M,) loses less than rounding does."""
        reached = objective_value(self.arrays, epsilon)
        return abs(reached - self.value) <= 1e-12 * abs(self.value)


def keeps_all(arrays: Arrays, epsilon: FloatArray) -> bool:
    """True where floors and ceilings hold at lambda(epsilon); bounds and budgets are kept by construction."""
    kept = log_retentions(arrays, epsilon)
    has_ceiling = arrays.log_ceiling < 0
    return bool(
        np.all(kept >= arrays.log_floor) and np.all(kept[has_ceiling] <= arrays.log_ceiling[has_ceiling])
    )


def off_zero(reduction: Reduction) -> Reduction:
    """The reduction with lower bounds a little above 0: no attribute drifts to where nothing is felt."""
    program = reduction.program
    room = inner_start(program) - program.lower
    lower = np.maximum(program.lower, _ALMOST_ZERO * room)
    limit = program.cap_limit - program.cap @ (lower - program.lower)
    return replace(reduction, program=replace(program, lower=lower, cap_limit=limit))


def with_total(reduction: Reduction) -> Reduction:
    """The reduction of `weighted_sum` with its sum as the objective."""
    arrays = reduction.arrays
    weights = alive(arrays)
    terms = np.flatnonzero(weights > 0)
    if not terms.size:
        return reduction
    logs = np.log(weights[terms]) + arrays.incidence[terms] @ fixed_retention(reduction)
    here = np.isfinite(logs)
    rows = arrays.incidence[terms[here]][:, reduction.free]
    return replace(reduction, program=replace(reduction.program, total=Total(logs[here], rows)))


def improve(
    reduction: Reduction, start: FloatArray, inside: FloatArray, best: Best, check: Callable[[], None]
) -> None:
    """Climb from `start` (n,); offer the end to `best`. Both points are strictly inside everything."""
    program = reduction.program
    constraints = Constraints(program)
    first = constraints.start(program.point(start), 1e-2)
    previous = [program.epsilon(first.v)]

    def watch(at: Iterate) -> bool:
        check()
        now = program.epsilon(at.v)
        moved = float(np.max(np.abs(now - previous[0])))
        previous[0] = now
        return at.complementarity < _TOLERANCE and moved < _STILL * float(np.max(now))

    end = iterate(constraints, first, watch, _RULES)
    point = brought_inside(reduction, program.epsilon(end.v), inside)
    if point is not None:
        best.offer(reduction.expand(point))
