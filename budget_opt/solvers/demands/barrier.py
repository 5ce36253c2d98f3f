"""Demands, budgets and bounds as slacks in v = logit lambda.

In v epsilon, -log lambda and the log spread g are convex (`certificate.demands`), so every slack is concave.
With a level s all demands give way by s, a logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from budget_opt.certificate.demands import Demands
from budget_opt.mechanisms.exact import exact_sum
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.objectives import log_inflations, log_retentions
from budget_opt.model.values import LARGEST_EPSILON
from budget_opt.solvers.coordinate import LOGIT
from budget_opt.solvers.incidence import Incidence
from budget_opt.solvers.spread_columns import Columns

MARGIN = 1e-11
"""Share of a log floor or log limit by which a split aims inside, for the sampler's rounding."""
_DECIMAL = 2.0**-52
"""A floor near 1 is a decimal, and its double may differ by half of this."""
CAP_MARGIN = 2.0**-46
"""Share of a budget left over: far above the rounding of a sum."""
_DIGITS = 128 * math.log(2.0)
"""The widest sampler's, as a logarithm."""


class Slacks(NamedTuple):
    """What is left of every floor, inflation, budget, lower and upper bound."""

    floors: FloatArray
    inflations: FloatArray
    caps: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def positive(self) -> bool:
        """True strictly inside everything."""
        return all(bool(np.all(part > 0)) for part in self)

    @property
    def number(self) -> int:
        """How many there are."""
        return sum(part.size for part in self)


class Point(NamedTuple):
    """v (n,) and the level."""

    v: FloatArray
    level: float = 0.0


@dataclass(frozen=True, eq=False)
class LogSpread:
    """g = log(1 + exp(linear) tau + exp(square) tau^2) of the free columns (J,), all digits kept near 0."""

    linear: FloatArray
    square: FloatArray
    columns: Columns

    @classmethod
    def of(cls, arrays: Arrays, columns: Columns) -> LogSpread:
        """From a and b of DESIGN 2.3."""
        a, b = arrays.spread_a[columns.taken], arrays.spread_b[columns.taken]
        with np.errstate(divide="ignore"):
            return cls(np.log(a + b), np.log(b), columns)

    def value(self, v: FloatArray) -> FloatArray:
        """g (J,) at v (n,)."""
        v = v[self.columns.block]
        g: FloatArray = np.logaddexp(np.logaddexp(0.0, self.linear - v), self.square - 2.0 * v)
        return g

    def slopes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """g' <= 0 and g'' >= 0, from the shares of the powers of tau."""
        g, v = self.value(v), v[self.columns.block]
        one, two = np.exp(self.linear - v - g), np.exp(self.square - 2.0 * v - g)
        return -(one + 2.0 * two), one * np.exp(-g) + two * (one + 4.0 * np.exp(-g))


@dataclass(frozen=True, eq=False)
class Barrier:
    """The slacks over the n free attributes; the others keep `fixed` (M,).

    `floor_rows`, `limit_rows` are the moments of the rows, `cap_rows` the budgets; the rests are what floors
    and limits leave to the free ones.
    """

    demands: Demands
    free: IntArray
    fixed: FloatArray
    floor_rows: IntArray
    limit_rows: IntArray
    floors: Incidence
    floor_rest: FloatArray
    limits: Incidence
    limit_rest: FloatArray
    spread: LogSpread
    cap_rows: IntArray
    caps: Incidence
    cap_limit: FloatArray
    cardinality: FloatArray
    lower: FloatArray
    upper: FloatArray

    def epsilon(self, v: FloatArray) -> FloatArray:
        """Epsilon of all attributes (M,)."""
        whole = self.fixed.copy()
        whole[self.free] = np.clip(LOGIT.epsilon(v, self.cardinality), self.lower, self.upper)
        return whole

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The bounds in v."""
        return LOGIT.of(self.lower, self.cardinality), LOGIT.of(self.upper, self.cardinality)

    def slacks(self, at: Point) -> Slacks:
        """All slacks at a point."""
        kept = self.floors.sums(LOGIT.log_retention(at.v))
        lost = self.limits.sums(self.spread.value(at.v))
        spent = self.caps.sums(LOGIT.epsilon(at.v, self.cardinality) - self.lower)
        bottom, top = self.ends
        return Slacks(
            self.floor_rest + kept + at.level,
            self.limit_rest - lost + at.level,
            self.cap_limit - spent,
            (at.v - bottom)[self.lower > 0],
            top - at.v,
        )

    def missed(self, v: FloatArray) -> float:
        """By how much the worst demand is missed, a logarithm; below 0 where all are met."""
        slacks = self.slacks(Point(v))
        return -float(np.min(np.concatenate([slacks.floors, slacks.inflations])))

    def along(self, at: Point, step: Point) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The change of the slacks of floors, inflations and budgets along a step, to first order."""
        kept = self.floors.sums(LOGIT.log_retention_slopes(at.v)[0] * step.v)
        lost = self.limits.sums(self.spread.slopes(at.v)[0] * step.v[self.spread.columns.block])
        spent = self.caps.sums(LOGIT.epsilon_slopes(at.v, self.cardinality)[0] * step.v)
        return step.level + kept, step.level - lost, -spent


def barrier_of(demands: Demands) -> Barrier:
    """The barrier of all demands on a moment with a free attribute; attributes without demand stay low."""
    arrays = demands.arrays
    demanded = np.isfinite(arrays.log_floor) | np.isfinite(demands.log_limit)
    used = arrays.incidence.T @ demanded.astype(np.float64) > 0
    # beyond, no sampler implements what is left of tau
    most = np.zeros(arrays.blocks)
    np.maximum.at(most, arrays.spread_block, np.log1p(arrays.spread_a + arrays.spread_b))
    enough = np.log(arrays.cardinality) + most + _DIGITS
    upper = np.minimum(np.minimum(arrays.upper, LARGEST_EPSILON), enough)
    free = np.flatnonzero(used & (arrays.lower < upper))
    fixed = arrays.lower.copy()
    # the free ones count for nothing here: at an infinite epsilon log lambda and the log spread are 0
    rest = fixed.copy()
    rest[free] = np.inf
    kept, lost = log_retentions(arrays, rest), log_inflations(arrays, rest)
    columns = Columns.of(arrays, free)
    movable = np.asarray(arrays.incidence[:, free].sum(axis=1)) > 0
    floors = np.flatnonzero(np.isfinite(arrays.log_floor) & movable)
    limits = np.flatnonzero(np.isfinite(demands.log_limit) & movable)
    caps = np.zeros((len(arrays.budgets), free.size))
    left = np.zeros(len(arrays.budgets))
    for row, budget in enumerate(arrays.budgets):
        caps[row] = np.isin(free, budget.members)
        left[row] = float(budget.cap - exact_sum(fixed[budget.members]))
    held = np.flatnonzero(np.any(caps > 0, axis=1))
    return Barrier(
        demands=demands,
        free=free,
        fixed=fixed,
        floor_rows=floors,
        limit_rows=limits,
        floors=Incidence(csr_array(arrays.incidence[floors][:, free])),
        floor_rest=kept[floors] - _aimed(arrays.log_floor[floors]),
        limits=Incidence(csr_array(arrays.spread_incidence[limits][:, columns.taken])),
        limit_rest=(1.0 - MARGIN) * demands.log_limit[limits] - lost[limits],
        spread=LogSpread.of(arrays, columns),
        cap_rows=held,
        caps=Incidence(csr_array(caps[held])),
        cap_limit=(1.0 - CAP_MARGIN) * left[held],
        cardinality=arrays.cardinality[free],
        lower=arrays.lower[free],
        upper=upper[free],
    )


def _aimed(log_floor: FloatArray) -> FloatArray:
    """Log floors (R,) by a hair higher."""
    aimed: FloatArray = log_floor + np.maximum(MARGIN * np.abs(log_floor), _DECIMAL)
    return aimed
