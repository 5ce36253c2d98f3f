"""Local optima under any floors, groups and ceilings: the interior-point method on what is not convex.

A weighted sum enters each step by its linearization in log lambda (GLOBAL_SOLVER 1), with its curvature where
the step still descends; ceilings by their tangents at the last point. A point counts only if it is exactly
inside, so that whatever the method does, the best point never gets worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.mechanisms import logit
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.model.objectives import value as objective_value
from budget_opt.solvers.ceilings import Ceilings
from budget_opt.solvers.convex import brought_inside
from budget_opt.solvers.interior_point import Rules, iterate
from budget_opt.solvers.iterate import Constraints, Iterate, objective
from budget_opt.solvers.phase_one import strictly_inside
from budget_opt.solvers.program import Program, Total
from budget_opt.solvers.reduction import Reduction, alive, fixed_retention, inner_start


@dataclass(frozen=True)
class Length:
    """Ceilings' tangents are renewed `rounds` times at most, until a round gains less than `settled`."""

    rounds: int
    settled: float


SHORT, LONG = Length(12, 1e-4), Length(60, 1e-9)
_TOLERANCE, _STILL = 1e-9, 1e-10
"""Complementarity, and relative movement of epsilon, at which one run ends."""
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
        better = reached < self.value if self.arrays.objective in MINIMIZED else reached > self.value
        if self.epsilon is None or better:
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
    if arrays.objective != "weighted_sum" or not terms.size:
        return reduction
    logs = np.log(weights[terms]) + arrays.incidence[terms] @ fixed_retention(reduction)
    here = np.isfinite(logs)
    rows = arrays.incidence[terms[here]][:, reduction.free]
    return replace(reduction, program=replace(reduction.program, total=Total(logs[here], rows)))


def improve(
    reduction: Reduction,
    ceilings: Ceilings,
    start: FloatArray,
    best: Best,
    check: Callable[[], None],
    length: Length = SHORT,
) -> None:
    """Climb from `start` (n,), strictly inside everything; offer every point on the way to `best`."""
    point, reached = start, _worth(reduction, start)
    for _ in range(length.rounds if ceilings.size else 1):
        following = _climbed(reduction, ceilings, point, check)
        if following is None:
            return
        best.offer(reduction.expand(following))
        worth = _worth(reduction, following)
        if not worth > reached + length.settled * abs(reached):
            return
        point, reached = following, worth


def _worth(reduction: Reduction, epsilon: FloatArray) -> float:
    arrays = reduction.arrays
    reached = objective_value(arrays, reduction.expand(epsilon))
    return -reached if arrays.objective in MINIMIZED else reached


def _climbed(
    reduction: Reduction, ceilings: Ceilings, start: FloatArray, check: Callable[[], None]
) -> FloatArray | None:
    """The end (n,) of one run under the ceilings' caps at `start`; None if it is not inside."""
    program = _convexified(reduction.program, ceilings, start)
    constraints = Constraints(program)
    first = constraints.start(logit.logit(start, program.cardinality), 1e-2)
    previous = [program.epsilon(first.v)]

    def watch(at: Iterate) -> bool:
        check()
        now = program.epsilon(at.v)
        moved = float(np.max(np.abs(now - previous[0])))
        previous[0] = now
        small = _TOLERANCE * program.unit(objective(program, at))
        return at.complementarity < small and moved < _STILL * float(np.max(now))

    end = iterate(constraints, first, watch, _RULES)
    return brought_inside(replace(reduction, program=program), program.epsilon(end.v), start)


def _convexified(program: Program, ceilings: Ceilings, start: FloatArray) -> Program:
    """Under ceilings, the convex program of caps and of the sum's linearization at `start` (n,).

    Without them the sum itself: its curvature makes one run as good as many.
    """
    if not ceilings.size:
        return program
    capped = ceilings.as_caps(program, start)
    if program.total is None:
        return capped
    shares = program.total.shares(logit.logit(start, program.cardinality))
    return replace(capped, gain=program.total.rows.T @ shares, total=None)


def inside_ceilings(
    reduction: Reduction, ceilings: Ceilings, starts: list[FloatArray], check: Callable[[], None]
) -> FloatArray | None:
    """A split (n,) strictly inside floors, ceilings, caps and bounds, from any start; None if none came."""
    program = reduction.program
    for start in starts:
        for factor in (1.0, 0.3, 0.1, 0.01, 1e-4):
            point = program.lower + factor * (start - program.lower)
            if strictly(program, ceilings, point):
                return point
        point = start
        for _ in range(LONG.rounds):
            following = _further_inside(program, ceilings, point, check)
            if strictly(program, ceilings, following):
                return following
            if np.max(np.abs(following - point)) < 1e-9 * np.max(point):
                break
            point = following
    return None


def _further_inside(
    program: Program, ceilings: Ceilings, start: FloatArray, check: Callable[[], None]
) -> FloatArray:
    """Maximize the least slack of floors and ceilings' tangents at `start` (n,)."""
    hard = np.flatnonzero(program.row_level == 0)
    rows = replace(
        program, rows=program.rows[hard], row_bound=program.row_bound[hard], row_level=np.ones(hard.size)
    )
    search = ceilings.as_caps(rows, start, level=1.0)
    search = search.with_level(search.row_level, search.cap_level)
    constraints = Constraints(search)

    def watch(at: Iterate) -> bool:
        check()
        return at.complementarity < 1e-9 or strictly(program, ceilings, search.epsilon(at.v))

    end = iterate(constraints, constraints.start(logit.logit(start, program.cardinality)), watch, _RULES)
    return search.epsilon(end.v)


def strictly(program: Program, ceilings: Ceilings, epsilon: FloatArray) -> bool:
    """True where a point (n,) is inside rows, ceilings, caps and bounds with something to spare."""
    if not (np.all(epsilon > program.lower) and np.all(epsilon < program.upper)):
        return False
    return strictly_inside(program, epsilon) and bool(np.all(ceilings.slack(program, epsilon) > 0))
