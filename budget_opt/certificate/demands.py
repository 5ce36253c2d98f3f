"""A proved lower bound of the least total that meets demands on retentions and on variance inflations.

Demands on moment k: log R_k >= log floor_k, or log VI_k = sum_j g_j(e_m) <= log limit_k, with g = log(1 + tau
a + tau (1 + tau) b) (DESIGN 2.3), one g_j for every set of members of a block m that moments use. In v =
logit lambda e, -log lambda and g are convex, the last as logarithm of a sum of exponentials. Weak duality:
for every y, z >= 0 on both kinds and mu >= 0 on the budgets,

    sum e >= sum_m min_v [ (1 + nu_m) e - d_m log lambda + sum_j c_j g_j ]
             + y . log floor - z . log limit - mu . cap

over the box, d being y summed over a block's moments, c_j z over those of g_j, nu mu over its budgets. With
the cost of epsilon 0 in place of 1, a bound above 0 shows that no split meets all demands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.box import budget_rows
from budget_opt.certificate.lagrangian import UNIT_ROUNDOFF
from budget_opt.certificate.linearization import spread_slope
from budget_opt.mechanisms import logit
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import by_block, log_spread_of
from budget_opt.model.values import LARGEST_EPSILON

_LEAST_POINT = -700.0
"""Below, epsilon is nothing: less than 1e-304 r."""
_HALVINGS = 70
_ROUNDINGS = 64
"""More than the roundings that one term passes; an elementary function counts four."""
_NEAR = 2.0**-20


@dataclass(frozen=True, eq=False)
class Demands:
    """What every moment must reach, within bounds and groups, whatever the total.

    `arrays` holds bounds, budgets (no total) and all floors, wanted ones as well; ceilings are not looked
    at. `log_limit` (K,) is the largest log variance inflation, inf where none is wanted.
    """

    arrays: Arrays
    log_limit: FloatArray


@dataclass(frozen=True, eq=False)
class Pressures:
    """Multipliers >= 0: of the floors (K,), of the inflations (K,), and of the budgets."""

    floors: FloatArray
    inflations: FloatArray
    budgets: FloatArray

    @property
    def of_demands(self) -> float:
        """The sum over the demands."""
        return float(np.sum(self.floors) + np.sum(self.inflations))

    def sanitized(self, demands: Demands) -> Pressures:
        """The nearest ones that the theorem admits: finite, >= 0, none where nothing is demanded."""
        floors = np.where(np.isfinite(demands.arrays.log_floor), _positive(self.floors), 0.0)
        inflations = np.where(np.isfinite(demands.log_limit), _positive(self.inflations), 0.0)
        return Pressures(floors, inflations, _positive(self.budgets))


@dataclass(frozen=True, eq=False)
class _Terms:
    """The separable function of the bound: its prices of epsilon, of log lambda (M,), and of every g (J,)."""

    arrays: Arrays
    price: FloatArray
    kept: FloatArray
    spread: FloatArray

    def slopes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The derivative at v, and what rounding may hide of it."""
        r = self.arrays.cardinality
        up = self.price * logit.epsilon_slope(v, r)
        down = self.kept * logit.log_retention_slope(v)
        of_columns = self.spread * spread_slope(self.arrays, logit.epsilon(v, r))
        down = down + by_block(self.arrays, of_columns)
        return up - down, self.rounding(v) * (up + down)

    def rounding(self, v: FloatArray) -> FloatArray:
        """What rounding may take from a term, as a share: powers of tau are exp of sums of logarithms."""
        a, b = self.arrays.spread_a, self.arrays.spread_b
        of_columns, most = np.abs(np.log(a + b)) + np.abs(np.log(b)), np.zeros(self.arrays.blocks)
        np.maximum.at(most, self.arrays.spread_block, of_columns)
        logarithms = np.log(self.arrays.cardinality) + most
        share: FloatArray = _ROUNDINGS * UNIT_ROUNDOFF * (1.0 + np.abs(v) + logarithms)
        return share

    def values(self, v: FloatArray) -> FloatArray:
        """The function at v; all its terms are >= 0."""
        spent = self.price * logit.epsilon(v, self.arrays.cardinality)
        lost = -self.kept * logit.log_retention(v)
        of_columns = self.spread * log_spread_of(self.arrays, -v)
        total: FloatArray = spent + lost + by_block(self.arrays, of_columns)
        return total


def least_total_bound(demands: Demands, pressures: Pressures, cost: float = 1.0) -> float:
    """No split that meets the demands has a smaller sum of epsilon times `cost`, whatever the pressures.

    With `cost` 0: where it is above 0 no split meets them. Everything that rounding may hide is taken off.
    """
    arrays, clean = demands.arrays, pressures.sanitized(demands)
    budgets = budget_rows(arrays)
    terms = _Terms(
        arrays,
        cost + clean.budgets @ budgets.coefficient,
        arrays.incidence.T @ clean.floors,
        arrays.spread_incidence.T @ clean.inflations,
    )
    least, hidden = _minima(terms)
    floors, limits = np.isfinite(arrays.log_floor), np.isfinite(demands.log_limit)
    parts = np.concatenate(
        [
            least,
            clean.floors[floors] * arrays.log_floor[floors],
            -clean.inflations[limits] * demands.log_limit[limits],
            -clean.budgets * budgets.limit,
        ]
    )
    rows = np.bincount(arrays.incidence.indices, minlength=1).max() + len(arrays.budgets)
    summed = (2.0 * rows + _ROUNDINGS) * UNIT_ROUNDOFF * float(np.sum(np.abs(parts)))
    bound = math.fsum([*parts.tolist(), -float(np.sum(hidden)), -summed])
    return bound if math.isfinite(bound) else -math.inf


def _minima(terms: _Terms) -> tuple[FloatArray, FloatArray]:
    """The function at its minimizers (M,), and by how much its true minima over the box may lie below."""
    arrays = terms.arrays
    bottom, top = _box(arrays)
    low, high = bottom, top
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        falling = terms.slopes(middle)[0] < 0
        low, high = np.where(falling, middle, low), np.where(falling, high, middle)
    point = 0.5 * (low + high)
    slope, doubt = terms.slopes(point)
    # the minimizer is near wherever the slopes around leave no doubt of their signs
    before, after = np.maximum(point - _NEAR, bottom), np.minimum(point + _NEAR, top)
    left, left_doubt = terms.slopes(before)
    right, right_doubt = terms.slopes(after)
    first, last = np.where(left < -left_doubt, before, bottom), np.where(right > right_doubt, after, top)
    # a convex function lies above its tangent
    hidden = np.maximum(slope, 0.0) * (point - first) + np.maximum(-slope, 0.0) * (last - point)
    value = terms.values(point)
    hidden += doubt * (last - first) + terms.rounding(point) * value
    below = np.where(arrays.lower == 0, logit.epsilon(bottom, arrays.cardinality), 0.0)
    return value, hidden + terms.price * below


def _box(arrays: Arrays) -> tuple[FloatArray, FloatArray]:
    """The bounds in v, a hair wider, as v is a rounded image of epsilon; no file states more than 10,000."""
    r = arrays.cardinality
    bottom = np.maximum(logit.logit(arrays.lower, r), _LEAST_POINT)
    top = np.maximum(logit.logit(np.minimum(arrays.upper, LARGEST_EPSILON), r), bottom)
    hair = _ROUNDINGS * UNIT_ROUNDOFF * (1.0 + np.log(r))
    return bottom - hair * (1.0 + np.abs(bottom)), top + hair * (1.0 + np.abs(top))


def _positive(values: FloatArray) -> FloatArray:
    clean: FloatArray = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
    return clean
