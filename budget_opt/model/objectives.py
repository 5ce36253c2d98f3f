"""Values of the five objectives (DESIGN 2.4) at a split of the budget."""

from __future__ import annotations

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray


def log_retentions(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """log R_k of every moment, shape (K,), at epsilon (M,) in nats; -inf where a member has none."""
    kept: FloatArray = arrays.incidence @ rr.log_retention(epsilon, arrays.cardinality)
    return kept


def log_inflations(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """log of the variance inflation of every moment (DESIGN 2.3), shape (K,); +inf where not released."""
    inflated: FloatArray = arrays.incidence @ log_spread(arrays, epsilon)
    return inflated


def log_spread(arrays: Arrays, epsilon: FloatArray) -> FloatArray:
    """log(1 + tau a + tau (1 + tau) b) of every attribute, shape (M,); a = b = 1 gives -2 log lambda."""
    log_tau = rr.log_tau(epsilon, arrays.cardinality)
    with np.errstate(divide="ignore"):
        linear = np.log(arrays.spread_a + arrays.spread_b) + log_tau
        square = np.log(arrays.spread_b) + 2.0 * log_tau
    spread: FloatArray = np.logaddexp(np.logaddexp(0.0, linear), square)
    return spread


def value(arrays: Arrays, epsilon: FloatArray) -> float:
    """The objective at epsilon (M,): the sum, mean, least ratio, total or variance of DESIGN 2.4.

    Moments of weight 0 take no part. `min_variance` is inf where a weighted moment is not released.
    """
    if arrays.objective == "min_epsilon":
        return float(np.sum(epsilon))
    used = arrays.weight > 0
    weight = arrays.weight[used]
    if arrays.objective == "min_variance":
        with np.errstate(over="ignore"):
            return float(
                np.sum(weight * arrays.variance[used] * np.exp(log_inflations(arrays, epsilon)[used]))
            )
    kept = log_retentions(arrays, epsilon)[used]
    if arrays.objective == "weighted_sum":
        return float(np.sum(weight * np.exp(kept)))
    if arrays.objective == "geometric_mean":
        return float(np.exp(np.sum(weight * kept) / np.sum(weight)))
    return float(np.min(np.exp(kept - np.log(arrays.target[used]))))
