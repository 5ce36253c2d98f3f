"""The interval of a ratio that is shown only where its denominator is told from nothing.

All in units of the denominator, as in `ratio`: m the ratio, v, c and d the variances of numerator and
denominator and their covariance, and g the least denominator with which the ratio is shown. Where few
releases are shown, those that are have denominators that are too large by chance, and Fieller's interval
misses in more than its share of them. For a ratio r, D = numerator - r denominator has the mean 0, the
variance s^2 = v - 2 r c + r^2 d and the covariance k = c - r d with the denominator, and
denominator - D k / s^2 is independent of D. Given that, D / s is a standard normal, cut where the denominator
falls below g, so that

    F(r) = P(D below what was seen | denominator >= g, denominator - D k / s^2)

is uniform among the releases that are shown, whatever the denominator is in truth (Lee, Sun, Sun and Taylor
2016, "Exact post-selection inference", here for a ratio). The interval holds all r with F(r) between
(1 - level) / 2 and (1 + level) / 2; far from g it is Fieller's. An end is infinite where no r is too far.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import normal_quantile
from budget_opt.estimators.intervals.ratio import ratio_interval

BoolArray = npt.NDArray[np.bool_]

FAR = 8.0
"""Errors from g on which the cut moves no end by a millionth."""
_REACH = np.sinh(np.linspace(-12.0, 12.0, 801))
"""Where F is looked at first, in standard errors from m: dense near 0, up to 8e4."""
_ROUNDS, _STEPS = 5, 64


def shown_interval(m: float, v: float, c: float, d: float, least: float, level: float) -> tuple[float, float]:
    """The interval of a ratio that is shown from the denominator `least` on, in [0, 1], in units of it."""
    z = normal_quantile(level)
    if (1 - least) >= FAR * math.sqrt(d):
        low, high = ratio_interval(np.asarray(m), np.asarray(v), np.asarray(c), np.asarray(d), z)
        return float(low), float(high)

    def inside(r: FloatArray) -> BoolArray:
        placed = _placed(r, m, v, c, d, least)
        return np.asarray(np.minimum(placed, 1 - placed) >= (1 - level) / 2)

    places = m + math.sqrt(max(v - 2 * m * c + m * m * d, 0.0)) * _REACH
    (found,) = np.nonzero(inside(places))
    if found.size == 0:
        return -math.inf, math.inf
    first, last = int(found[0]), int(found[-1])
    return (
        -math.inf if first == 0 else _edge(inside, places[first], places[first - 1]),
        math.inf if last == places.size - 1 else _edge(inside, places[last], places[last + 1]),
    )


def _placed(r: FloatArray, m: float, v: float, c: float, d: float, least: float) -> FloatArray:
    """F(r)."""
    deviation = np.sqrt(np.maximum(v - 2 * r * c + r * r * d, np.finfo(float).tiny))
    seen, slope = (m - r) / deviation, (c - r * d) / deviation
    turned = slope < 0  # then the cut is above, and everything is seen in a mirror
    seen = np.where(turned, -seen, seen)
    with np.errstate(divide="ignore"):
        cut = seen - (1 - least) / np.abs(slope)
    above = log_ndtr(-seen) - log_ndtr(-cut)
    placed: FloatArray = np.where(turned, np.exp(above), 1 - np.exp(above))
    return placed


def _edge(inside: Callable[[FloatArray], BoolArray], within: float, beyond: float) -> float:
    """Where the interval ends between a point of it and one beyond, by ever finer steps."""
    for _ in range(_ROUNDS):
        steps = np.linspace(within, beyond, _STEPS + 1)
        last = int(np.argmin(np.append(inside(steps[1:-1]), False)))  # the last before one outside
        within, beyond = float(steps[last]), float(steps[last + 1])
    return within
