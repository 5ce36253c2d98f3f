"""Each convex objective as c . log lambda - g . log tau - cost . epsilon + constant, to be maximized.

For `geometric_mean`, `max_min` (with shares s of its moments) and `min_epsilon` this is exact. The
logarithm of `min_variance` is a log-sum-exp of sums of log(1 + (a + b) tau + b tau^2), convex in log tau,
and lies above its tangent there; where a = b = 1 the summand is -2 log lambda itself (DESIGN 2.3, 2.5). A
block has one such summand for each set of its members that moments use, and c and g are sums over them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import by_block, log_spread


@dataclass(frozen=True)
class Linear:
    """An upper bound: constant + c . log lambda - g . log tau - cost . epsilon, with c, g, cost (M,) >= 0.

    It bounds the objective's logarithm, its negative where it is minimized, -epsilon for `min_epsilon`.
    `size` is the sum of the absolute values that were summed into the constant.
    """

    c: FloatArray
    g: FloatArray
    cost: FloatArray
    constant: float
    size: float


def linearize(arrays: Arrays, point: FloatArray, shares: FloatArray) -> Linear:
    """The linear bound of a convex objective at `point` (M,); `shares` (K,) are those of `max_min`."""
    nothing = np.zeros(arrays.blocks)
    if arrays.objective == "min_epsilon":
        return Linear(nothing, nothing, nothing + 1.0, 0.0, 0.0)
    if arrays.objective == "min_variance":
        return _variance(arrays, point)
    if arrays.objective == "geometric_mean":
        return Linear(arrays.mean_pull, nothing, nothing, arrays.log_scale, abs(arrays.log_scale))
    terms = shares * np.log(arrays.target)
    return Linear(
        arrays.incidence.T @ shares, nothing, nothing, float(-np.sum(terms)), float(np.sum(np.abs(terms)))
    )


def _variance(arrays: Arrays, point: FloatArray) -> Linear:
    """-log F <= -log F* - q . (spread - spread*), q the shares of the terms summed over moments."""
    used = arrays.weight > 0
    incidence = arrays.spread_incidence[used]
    spread = log_spread(arrays, point)
    with np.errstate(invalid="ignore"):
        terms = np.log(arrays.weight[used] * arrays.variance[used]) + incidence @ spread
    log_value = float(logsumexp(terms)) if terms.size else -np.inf
    nothing = np.zeros(arrays.blocks)
    if not np.isfinite(log_value):
        return Linear(nothing, nothing, nothing, np.inf, 0.0)
    q = incidence.T @ np.exp(terms - log_value)
    plain = (arrays.spread_a == 1.0) & (arrays.spread_b == 1.0)
    slope = np.where((q > 0) & ~plain, q * spread_slope(arrays, point), 0.0)
    log_kept = _finite(rr.log_retention(point, arrays.cardinality))[arrays.spread_block]
    at_point = np.where(plain, -2.0 * q * log_kept, 0.0)
    at_point += slope * _finite(rr.log_tau(point, arrays.cardinality))[arrays.spread_block]
    return Linear(
        by_block(arrays, np.where(plain, 2.0 * q, 0.0)),
        by_block(arrays, slope),
        nothing,
        float(np.sum(at_point) - log_value),
        float(np.sum(np.abs(at_point)) + abs(log_value) + np.sum(q * np.abs(_finite(spread)))),
    )


def spread_slope(arrays: Arrays, point: FloatArray) -> FloatArray:
    """d log(1 + (a + b) tau + b tau^2) / d log tau, in [0, 2], of every spread column (J,)."""
    one, two = spread_shares(arrays, point)
    slope: FloatArray = one + 2.0 * two
    return slope


def spread_shares(arrays: Arrays, point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The shares of (a + b) tau and of b tau^2 in 1 + (a + b) tau + b tau^2, each (J,)."""
    log_tau = rr.log_tau(point, arrays.cardinality)[arrays.spread_block]
    spread = log_spread(arrays, point)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.exp(np.log(arrays.spread_a + arrays.spread_b) + log_tau - spread)
        two = np.exp(np.log(arrays.spread_b) + 2.0 * log_tau - spread)
    return _finite(one), np.where(np.isnan(two), 1.0, two)


def _finite(values: FloatArray) -> FloatArray:
    finite: FloatArray = np.where(np.isfinite(values), values, 0.0)
    return finite
