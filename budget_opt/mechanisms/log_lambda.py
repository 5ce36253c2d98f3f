"""Randomized response in x = log lambda < 0, the coordinate in which floors and ceilings are both linear.

epsilon = log(1 + r exp(x) / (1 - exp(x))) is convex in x, the inverse of a concave increasing function; its
slope grows without limit towards x = 0. With w = 1 / (1 - lambda): d logit lambda / d x = w.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.randomized_response import Real


def complement_inverse(x: Real) -> Any:
    """w = 1 / (1 - lambda)."""
    return -1.0 / np.expm1(np.asarray(x))


def epsilon(x: Real, cardinality: Real) -> Any:
    """The epsilon (nats) with log lambda = x."""
    return rr.epsilon_for_log_retention(x, cardinality)


def epsilon_slopes(x: Real, cardinality: Real) -> tuple[Any, Any]:
    """d epsilon / d x and d2 epsilon / d x2, both positive."""
    w = complement_inverse(x)
    share = expit(np.asarray(x) + np.log(w) + np.log(cardinality))
    return share * w, share * w * w * ((1.0 - share) + np.exp(x))


def log_tau(x: Real) -> tuple[Any, Any, Any]:
    """log(1 / lambda - 1) and its two derivatives: -w and -lambda w^2."""
    w = complement_inverse(x)
    return -np.log(w) - np.asarray(x), -w, -np.exp(x) * w * w
