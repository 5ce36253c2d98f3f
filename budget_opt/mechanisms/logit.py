"""Randomized response in v = logit lambda = -log tau, the coordinate in which everything is smooth.

Letters: e epsilon in nats, r the effective cardinality, l = log lambda. Then (DESIGN 2.1)

    e = log(1 + r exp(v)) is convex,   l = -log(1 + exp(-v)) is concave,   log tau = -v is linear,

with bounded curvature, no domain boundary and no overflow for any v (shared/CONVEX_SOLVER.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.randomized_response import Real


def logit(epsilon: Real, cardinality: Real) -> Any:
    """v at epsilon >= 0; -inf at 0 and +inf at inf."""
    return -rr.log_tau(epsilon, cardinality)


def epsilon(v: Real, cardinality: Real) -> Any:
    """The epsilon (nats) with logit lambda = v."""
    return np.logaddexp(0.0, np.asarray(v) + np.log(cardinality))


def epsilon_slope(v: Real, cardinality: Real) -> Any:
    """d epsilon / d v, in (0, 1)."""
    return expit(np.asarray(v) + np.log(cardinality))


def epsilon_curvature(v: Real, cardinality: Real) -> Any:
    """d2 epsilon / d v2, in (0, 1/4]."""
    shifted = np.asarray(v) + np.log(cardinality)
    return expit(shifted) * expit(-shifted)


def log_retention(v: Real) -> Any:
    """log lambda at logit lambda = v."""
    return -np.logaddexp(0.0, -np.asarray(v))


def log_retention_slope(v: Real) -> Any:
    """d log lambda / d v = 1 - lambda."""
    return expit(-np.asarray(v))


def log_retention_curvature(v: Real) -> Any:
    """d2 log lambda / d v2 = -lambda (1 - lambda)."""
    point = np.asarray(v)
    return -expit(point) * expit(-point)
