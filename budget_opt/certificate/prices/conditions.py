"""The optimality conditions at a split: the gradient of the Lagrangian, linear in the multipliers.

Phi is the objective to be maximized in the units of `linearize`: its logarithm, minus that where it is
minimized, minus epsilon for `min_epsilon`. With multipliers theta >= 0 of the active floors (y), shares of
`max_min` (s), budgets (mu) and ceilings (kappa), attribute i of the Lagrangian has the slope

    dPhi/de_i + (sum y + sum s - sum kappa over its moments) dlog lambda/de_i - sum mu over its budgets

which is 0 where epsilon lies between its bounds, <= 0 at the lower and >= 0 at the upper one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack
from scipy.special import logsumexp

from budget_opt.certificate.box import budget_rows
from budget_opt.certificate.dual import unit as size_of_objective
from budget_opt.certificate.linearization import linearize
from budget_opt.mechanisms import logit
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, BoolArray, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions

_LARGEST = 650.0
"""Of a logarithm: beyond, what a lost moment would add to a sum of next to nothing is large enough."""


@dataclass(frozen=True)
class Active:
    """Indices of the floors, moments of the minimum, budgets and ceilings that hold with equality."""

    floors: IntArray
    shares: IntArray
    budgets: IntArray
    ceilings: IntArray

    @property
    def cuts(self) -> IntArray:
        """Where floors, shares and budgets end in a vector of multipliers."""
        return np.cumsum([self.floors.size, self.shares.size, self.budgets.size])


@dataclass(frozen=True)
class Conditions:
    """slope (M,) = gradient + matrix @ theta, each in its own unit; divided by `unit` (M,) it is per nat.

    `at_lower` and `at_upper` are both true for a pin, whose slope may be anything. `size` is that of Phi: 1
    for a logarithm, the spent epsilon for `min_epsilon`.
    """

    active: Active
    gradient: FloatArray
    matrix: csr_array
    unit: FloatArray
    at_lower: BoolArray
    at_upper: BoolArray
    size: float

    @property
    def inner(self) -> IntArray:
        """Attributes between their bounds."""
        return np.flatnonzero(~self.at_lower & ~self.at_upper)

    @property
    def shares(self) -> FloatArray:
        """1 for the multipliers that sum to one, (n,); all 0 unless the objective is `max_min`."""
        ones = np.zeros(self.matrix.shape[1])
        start, stop = self.active.cuts[0], self.active.cuts[1]
        ones[start:stop] = 1.0
        return ones


def conditions(arrays: Arrays, epsilon: FloatArray, tolerance: float) -> Conditions:
    """The conditions at epsilon (M,) with the rows that are active within `tolerance`.

    In logarithms for floors and ceilings, as a share for budgets and bounds. The rows of attributes are
    taken in logit lambda, where they are of one size; at epsilon 0, where that ends, in the largest unit.
    """
    active = _active(arrays, epsilon, tolerance)
    kept = epsilon > 0
    v = logit.logit(np.where(kept, epsilon, 1.0), arrays.cardinality)
    gain = np.where(kept, logit.log_retention_slope(v), 0.0)
    unit = logit.epsilon_slope(v, arrays.cardinality)
    unit = np.where(kept, unit, np.max(unit[kept], initial=1e-300))
    rows = csr_array(arrays.incidence @ diags_array(gain))
    budgets = csr_array(budget_rows(arrays).coefficient[active.budgets] * unit)
    parts = [rows[active.floors].T, rows[active.shares].T, -budgets.T, -rows[active.ceilings].T]
    matrix = csr_array(hstack(parts, format="csr"))
    near = tolerance * np.max(epsilon, initial=0.0)
    at_lower = epsilon - arrays.lower <= np.minimum(near, tolerance + tolerance * arrays.lower)
    at_upper = arrays.stated_upper - epsilon <= tolerance * epsilon
    gradient, size = _gradient(arrays, epsilon, gain, unit), size_of_objective(arrays, epsilon)
    return Conditions(active, gradient, matrix, unit, at_lower, at_upper, size)


def _active(arrays: Arrays, epsilon: FloatArray, tolerance: float) -> Active:
    kept = log_retentions(arrays, epsilon)
    rows = budget_rows(arrays)
    spare = rows.limit - rows.coefficient @ epsilon
    with np.errstate(invalid="ignore"):
        floors = np.flatnonzero(kept - arrays.log_floor <= tolerance)
        ceilings = np.flatnonzero((arrays.log_ceiling < 0) & (arrays.log_ceiling - kept <= tolerance))
    shares = np.zeros(0, dtype=np.int64)
    if arrays.objective == "max_min":
        ratio = np.where(arrays.weight > 0, kept - np.log(arrays.target), np.inf)
        shares = np.flatnonzero(ratio - np.min(ratio) <= tolerance)
    return Active(floors, shares, np.flatnonzero(spare <= tolerance * rows.limit), ceilings)


def _gradient(arrays: Arrays, epsilon: FloatArray, gain: FloatArray, unit: FloatArray) -> FloatArray:
    """dPhi by logit lambda (M,), by epsilon times `unit` where that is 0; without the shares of `max_min`."""
    if arrays.objective == "weighted_sum":
        return _sum_gradient(arrays, epsilon, gain, unit)
    linear = linearize(arrays, np.where(epsilon > 0, epsilon, 1.0), np.zeros(arrays.moments))
    gradient: FloatArray = linear.c * gain + linear.g - linear.cost * unit
    return np.where(epsilon > 0, gradient, -linear.cost * unit)


def _sum_gradient(arrays: Arrays, epsilon: FloatArray, gain: FloatArray, unit: FloatArray) -> FloatArray:
    """d log F by logit lambda; by epsilon where that is 0, where a moment counts if all others are kept.

    Where no moment is kept at all, log F is -inf; these are the slopes of F then, up to a common factor.
    """
    log_kept = rr.log_retention(epsilon, arrays.cardinality)
    nothing = epsilon == 0
    lost = arrays.incidence @ nothing.astype(np.float64)
    others = arrays.incidence @ np.where(nothing, 0.0, log_kept)
    with np.errstate(divide="ignore"):  # a weight of 0 is a term of 0
        terms = np.log(arrays.weight) + others
    counted = terms[lost == 0]
    # F itself may be below every double where its logarithm is not
    size = float(logsumexp(counted if np.any(counted > -np.inf) else terms))
    share = np.exp(np.minimum(terms - size, _LARGEST))
    whole = arrays.incidence.T @ np.where(lost == 0, share, 0.0)
    one_short = arrays.incidence.T @ np.where(lost == 1, share, 0.0)
    gradient: FloatArray = np.where(
        nothing, one_short * rr.retention_slope(epsilon, arrays.cardinality) * unit, whole * gain
    )
    return gradient
