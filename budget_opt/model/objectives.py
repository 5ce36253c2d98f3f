"""Values of the five objectives (DESIGN 2.4) at a split of the budget."""

from __future__ import annotations

import math

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray


def log_retentions(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """log R_k of every moment, shape (K,), at epsilon (M,) in nats; -inf where a member has none."""
    kept: FloatArray = arrays.incidence @ rr.log_retention(epsilon, arrays.cardinality)
    return kept


def log_inflations(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """log of the variance inflation of every moment (DESIGN 2.3), shape (K,); +inf where not released."""
    inflated: FloatArray = arrays.spread_incidence @ log_spread(arrays, epsilon)
    return inflated


def log_spread(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """log(1 + tau a + tau (1 + tau) b) of every spread column, shape (J,); a = b = 1 gives -2 log lambda."""
    return log_spread_of(arrays, rr.log_tau(epsilon, arrays.cardinality))


def log_spread_of(arrays: Arrays, log_tau: FloatArray) -> FloatArray:
    """The same from log tau of the blocks (M,)."""
    return log_spread_at(arrays.spread_a, arrays.spread_b, log_tau[arrays.spread_block])


def log_spread_at(a: FloatArray, b: FloatArray, log_tau: FloatArray) -> FloatArray:
    """log(1 + tau a + tau (1 + tau) b), elementwise."""
    with np.errstate(divide="ignore"):
        linear = np.log(a + b) + log_tau
        square = np.log(b) + 2.0 * log_tau
    spread: FloatArray = np.logaddexp(np.logaddexp(0.0, linear), square)
    return spread


def by_block(arrays: Arrays, columns: FloatArray) -> FloatArray:
    """Numbers of the spread columns (J,) summed over each block's columns, shape (M,)."""
    summed = np.bincount(arrays.spread_block, weights=columns, minlength=arrays.blocks)
    return summed.astype(np.float64, copy=False)


def value(arrays: Arrays, epsilon: FloatArray) -> float:
    """The objective at epsilon (M,) with lambda(epsilon): the sum, mean, least ratio, … of DESIGN 2.4.

    Moments of weight 0 take no part. `min_variance` is inf where a weighted moment is not released.
    """
    return value_of(arrays, epsilon, rr.log_retention(epsilon, arrays.cardinality))


def value_of(arrays: Arrays, epsilon: FloatArray, log_retention: FloatArray) -> float:
    """The objective at epsilon (M,) with these log lambda (M,), for instance the sampler's own."""
    if arrays.objective == "min_epsilon":
        return float(np.sum(epsilon))
    used = arrays.weight > 0
    weight = arrays.weight[used]
    if arrays.objective == "min_variance":
        spread = log_spread_of(arrays, rr.log_tau_of(log_retention))
        inflation: FloatArray = arrays.spread_incidence @ spread
        with np.errstate(over="ignore"):
            return float(np.sum(weight * arrays.variance[used] * np.exp(inflation[used])))
    kept = (arrays.incidence @ log_retention)[used]
    if arrays.objective == "weighted_sum":
        return float(np.sum(weight * np.exp(kept)))
    if arrays.objective == "geometric_mean":
        return float(np.exp(np.sum(weight * kept) / np.sum(weight) + arrays.log_scale))
    return float(np.min(np.exp(kept - np.log(arrays.target[used]))))


def relative_gap(value: float, bound: float) -> float:
    """|bound - value| / |value|; 0 where they are equal, inf where the value is 0 or nothing is known."""
    if value == bound:
        return 0.0
    if value == 0 or not math.isfinite(value) or not math.isfinite(bound):
        return math.inf
    return abs(bound - value) / abs(value)
