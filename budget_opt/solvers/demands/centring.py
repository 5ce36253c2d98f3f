"""Damped Newton steps on the logarithmic barrier, and the multipliers at its centre."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.demands import Pressures
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.coordinate import LOGIT
from budget_opt.solvers.demands.barrier import Barrier, Point, Slacks
from budget_opt.solvers.factor import Coupling, Factor, positive_factor

_STEPS = 100
_CENTRED = 1e-9
"""The squared Newton decrement at which a point counts as centred."""
_VISIBLE = 1e-14
"""Part of the merit below which a step's gain is lost in its rounding."""
_NEAR = 1e-3
"""A decrement from which on a step squares it, unless rounding is all that is left."""
_LONGEST, _SHORTEST = 4.0, 1e-9
"""Of a step: the largest change of a coordinate, and the least share of a Newton step."""
_LEAST_SHARE = 0.1
"""Of a multiplier that its correction may leave."""


@dataclass(frozen=True)
class Goal:
    """t times what is minimized: the sum of epsilon, or the level."""

    t: float
    level: bool

    def merit(self, barrier: Barrier, at: Point) -> float:
        """The function that a centring minimizes; inf outside."""
        slacks = barrier.slacks(at)
        if not slacks.positive:
            return np.inf
        spent = at.level if self.level else float(np.sum(LOGIT.epsilon(at.v, barrier.cardinality)))
        return self.t * spent - sum(float(np.sum(np.log(part))) for part in slacks)


def centring(barrier: Barrier, start: Point, goal: Goal) -> Iterator[Point]:
    """Damped Newton steps to the centre of a goal, each point strictly inside."""
    at, merit, before = start, goal.merit(barrier, start), np.inf
    for _ in range(_STEPS):
        step, decrement = _newton(barrier, at, goal)
        # below the second, the merit's own rounding hides what a step gains
        if not decrement > max(_CENTRED, _VISIBLE * abs(merit)):
            return
        # so near to the centre only rounding keeps the decrement from falling by its square
        if _NEAR > decrement > 0.25 * before:
            return
        before = decrement
        size = min(1.0, _LONGEST / max(float(np.max(np.abs(step.v), initial=0.0)), 1e-300))
        while size > _SHORTEST:
            tried = Point(at.v + size * step.v, at.level + size * step.level)
            reached = goal.merit(barrier, tried)
            if reached <= merit - 1e-4 * size * decrement:
                break
            size *= 0.5
        else:
            return
        at, merit = tried, reached
        yield at


def pressures(barrier: Barrier, at: Point, goal: Goal) -> Pressures:
    """The multipliers at the centre near a point: 1 / (t slack), less what the Newton step changes of it."""
    step, arrays = _newton(barrier, at, goal)[0], barrier.demands.arrays
    slacks, moved = barrier.slacks(at), barrier.along(at, step)
    floors, inflations, caps = (
        np.maximum(1.0 - change / slack, _LEAST_SHARE) / (goal.t * slack)
        for slack, change in zip(slacks[:3], moved, strict=True)
    )
    found = Pressures(np.zeros(arrays.moments), np.zeros(arrays.moments), np.zeros(len(arrays.budgets)))
    found.floors[barrier.floor_rows] = floors
    found.inflations[barrier.limit_rows] = inflations
    found.budgets[barrier.cap_rows] = caps
    return found


def _newton(barrier: Barrier, at: Point, goal: Goal) -> tuple[Point, float]:
    """The Newton step of a goal, and the squared decrement; none and NaN where rounding leaves no step."""
    weight = Slacks(*(1.0 / part for part in barrier.slacks(at)))
    kept1, kept2 = LOGIT.log_retention_slopes(at.v)
    lost1, lost2 = barrier.spread.slopes(at.v)
    spent1, spent2 = LOGIT.epsilon_slopes(at.v, barrier.cardinality)
    price = (0.0 if goal.level else goal.t) + barrier.caps.pulls(weight.caps)
    pull, push = barrier.floors.pulls(weight.floors), barrier.limits.pulls(weight.inflations)
    low = np.zeros(at.v.size)
    low[barrier.lower > 0] = weight.lower
    columns = barrier.spread.columns
    gradient = price * spent1 - pull * kept1 + columns.gathered(push * lost1) - low + weight.upper
    factor = positive_factor(
        price * spent2 - pull * kept2 + columns.gathered(push * lost2) + low**2 + weight.upper**2,
        [
            Coupling(barrier.floors, weight.floors**2, kept1),
            columns.coupling(barrier.limits, weight.inflations**2, lost1),
            Coupling(barrier.caps, weight.caps**2, spent1),
        ],
    )
    if factor is None:
        return Point(np.zeros(at.v.size)), np.nan
    dv = -factor.solve(gradient)
    if not goal.level:
        return Point(dv), -float(gradient @ dv)
    floors, inflations = weight.floors**2, weight.inflations**2
    border = barrier.floors.pulls(floors) * kept1
    border = border - columns.gathered(barrier.limits.pulls(inflations) * lost1)
    slope = goal.t - float(np.sum(weight.floors) + np.sum(weight.inflations))
    return _with_level(factor, gradient, border, slope, float(np.sum(floors) + np.sum(inflations)))


def _with_level(
    factor: Factor, gradient: FloatArray, border: FloatArray, slope: float, curvature: float
) -> tuple[Point, float]:
    """The step of the system that the level borders, by its Schur complement, and the squared decrement."""
    dv, moved = -factor.solve(gradient), -factor.solve(border)
    complement = max(curvature + float(border @ moved), 1e-16 * curvature)
    level = -(slope + float(border @ dv)) / complement
    whole = dv + level * moved
    return Point(whole, level), -float(gradient @ whole) - slope * level
