"""Bounds of the convex objectives by weak duality, at a cost linear in the problem (DESIGN 2.5).

For every y >= 0 on the floors, mu >= 0 on the budgets and kappa >= 0 on the ceilings

    objective <= constant + sum_m max_e [ c_m log lambda_m - g_m log tau_m - nu_m e ]
                 + mu . B - y . log floor + kappa . log ceiling

where c gains y and loses kappa, summed over an attribute's moments, and nu collects cost and mu. With x = log
lambda as the variable, floors and ceilings are both linear and epsilon(x) is convex: ceilings leave these
objectives convex, and the gap still closes (with a, b other than 1 in `min_variance` it may not). Everything
that rounding may hide is added: the result is a bound of the exact problem, with exact caps and true floors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.box import Box, Rows, budget_rows, root_box
from budget_opt.certificate.lagrangian import UNIT_ROUNDOFF, Maxima, maxima
from budget_opt.certificate.linearization import linearize
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.model.arrays import Arrays, FloatArray


@dataclass(frozen=True)
class Frame:
    """What the bound of one problem needs and no multiplier changes."""

    arrays: Arrays
    box: Box
    budgets: Rows

    @classmethod
    def of(cls, arrays: Arrays) -> Frame:
        """Box and rows; the box is tightened only where ceilings need lower bounds above 0."""
        box = root_box(arrays) if arrays.ceilings.size else Box(arrays.lower, arrays.upper)
        return cls(arrays, box, budget_rows(arrays))


def bound(frame: Frame, epsilon: FloatArray, multipliers: Multipliers) -> float:
    """A proved bound of the objective in its own unit: upper for maxima, lower for minima.

    `epsilon` (M,) is where `min_variance` is linearized unless the multipliers say where. Holds for any
    multipliers; negative or undefined ones are taken as 0.
    """
    return in_objective_unit(frame.arrays, log_bound(frame, epsilon, multipliers.sanitized(frame.arrays))[0])


def log_bound(frame: Frame, epsilon: FloatArray, multipliers: Multipliers) -> tuple[float, Maxima]:
    """The upper bound of `linearize`'s objective, rounding included, and the separable maxima behind it."""
    arrays = frame.arrays
    point = epsilon if multipliers.point is None else multipliers.point
    linear = linearize(arrays, point, multipliers.moments)
    ceilings, floors = arrays.ceilings, arrays.floors
    gain = linear.c + _gathered(arrays, multipliers.floors)
    held = _bounded_ceilings(frame, gain + linear.g, multipliers.ceilings)
    c = gain - _gathered(arrays, held)
    nu = linear.cost + multipliers.budgets @ frame.budgets.coefficient
    # a decimal of an allocation and its double differ by half a unit in the last place
    best = maxima(
        c, linear.g, nu, arrays.cardinality, frame.box.lower * (1 - 2**-52), frame.box.upper * (1 + 2**-52)
    )
    parts = np.concatenate(
        [
            [linear.constant],
            best.value,
            multipliers.budgets * frame.budgets.limit,
            held[ceilings] * arrays.log_ceiling[ceilings],
            -multipliers.floors[floors] * arrays.log_floor[floors],
        ]
    )
    if not np.all(np.isfinite(parts)):
        # -inf: a member of a weighted moment cannot have any retention; +inf: nothing limits the objective
        return (-math.inf if np.any(parts == -math.inf) else math.inf), best
    # c and nu are sums over an attribute's rows; numpy sums the linear constant pairwise
    rows = np.bincount(arrays.incidence.indices, minlength=1).max() + len(arrays.budgets)
    summed = (2.0 * rows + 64.0) * UNIT_ROUNDOFF * (np.sum(np.abs(parts)) + linear.size)
    allowance = math.fsum([float(np.sum(best.allowance)), float(summed)])
    return math.nextafter(math.fsum(parts) + allowance, math.inf), best


def _gathered(arrays: Arrays, multipliers: FloatArray) -> FloatArray:
    """The multipliers (K,) summed over each attribute's moments, (M,)."""
    if not np.any(multipliers):
        return np.zeros(arrays.blocks)
    summed: FloatArray = arrays.incidence.T @ multipliers
    return summed


def _bounded_ceilings(frame: Frame, gain: FloatArray, multipliers: FloatArray) -> FloatArray:
    """The ceilings' multipliers (K,), each lowered until no member that may have epsilon 0 is unbounded.

    That is, until an attribute's ceilings pull less than its gain (M,), whatever rounding does to their sum.
    """
    arrays = frame.arrays
    pull = _gathered(arrays, multipliers)
    room = 1.0 - max(1e-12, 4.0 * arrays.moments * UNIT_ROUNDOFF)
    held = (frame.box.lower == 0) & (pull > room * gain)
    if not np.any(held):
        return multipliers
    share = np.ones(arrays.blocks)
    share[held] = room * gain[held] / pull[held]
    least = np.minimum.reduceat(share[arrays.incidence.indices], arrays.incidence.indptr[:-1])
    lowered: FloatArray = multipliers * least
    return lowered


def in_objective_unit(arrays: Arrays, log_upper: float) -> float:
    """The bound of the reported value, rounded outward."""
    if arrays.objective == "min_epsilon":
        return max(-log_upper, 0.0)
    if arrays.objective == "min_variance":
        return _exp(-log_upper) * (1 - 4 * 2**-52)
    return _exp(log_upper) * (1 + 4 * 2**-52)


def _exp(logarithm: float) -> float:
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf
