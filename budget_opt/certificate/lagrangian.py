"""The separable maximum behind every convex certificate (DESIGN 2.5; shared/CONVEX_SOLVER.md, Stop 2).

Letters: c, g, nu the coefficients of log lambda, of -log tau and of -epsilon; r the effective
cardinality; d = exp(epsilon) - 1, found as a root, because exp(epsilon) itself loses small epsilons.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

UNIT_ROUNDOFF = 2.0**-53
_ROUNDINGS = 64
"""More than the roundings that one term passes; an elementary function counts four."""
_VANISHING = 1e-290
"""More than what is lost where the maximizer lies beyond the largest double's logarithm."""


class Maxima(NamedTuple):
    """Per attribute: the largest value, the epsilon that attains it, and what rounding may hide."""

    value: FloatArray
    epsilon: FloatArray
    allowance: FloatArray


def maxima(
    c: FloatArray,
    g: FloatArray,
    nu: FloatArray,
    cardinality: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Maxima:
    """max over lower <= e <= upper of c log lambda(e) - g log tau(e) - nu e, elementwise.

    g, nu >= 0; c has any sign; `upper` may be inf. The value is inf where nothing holds the function: c < 0
    with lower = 0, or nu < g without an upper bound. Stationary points obey

        (nu - g) d^2 + (nu r - g (r + 1) - c r) d - (g + c) r = 0;

    for c >= 0 the function is concave in logit lambda and has one, for c < 0 (ceilings) it may have two, and
    its maximum may be at an end. value + allowance is at least the exact maximum of the given doubles: a root
    is a backward stable function of c, g, nu, and an error of the maximizer enters in second order only.
    """
    epsilon = np.clip(stationary(np.maximum(c, 0.0), g, nu, cardinality), lower, upper)
    best = _valued(c, g, nu, cardinality, epsilon)
    if not np.any(c < 0):
        return best
    for other in (lower, upper, *_both_roots(c, g, nu, cardinality)):
        # where c >= 0 the point above is the maximum already
        point = np.where(c < 0, np.clip(other, lower, upper), epsilon)
        tried = _valued(c, g, nu, cardinality, point)
        best = Maxima(*(np.where(tried.value > best.value, x, y) for x, y in zip(tried, best, strict=True)))
    return best


def _valued(c: FloatArray, g: FloatArray, nu: FloatArray, r: FloatArray, epsilon: FloatArray) -> Maxima:
    terms = (
        _times(c, rr.log_retention(epsilon, r)),
        _times(g, -rr.log_tau(epsilon, r)),
        _times(nu, -epsilon),
    )
    size = sum(np.abs(term) for term in terms) + _times(g, epsilon)
    with np.errstate(invalid="ignore"):
        value = np.asarray(sum(terms))
    value = np.where(np.isnan(value), np.inf, value)  # inf - inf: epsilon is unbounded, the supremum too
    return Maxima(value, epsilon, _ROUNDINGS * UNIT_ROUNDOFF * np.asarray(size) + _VANISHING)


def _both_roots(c: FloatArray, g: FloatArray, nu: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The epsilons of both stationary points, 0 where there is none."""
    scale = np.maximum(np.maximum(np.abs(c), g), np.maximum(nu, 1e-300))
    c, g, nu = c / scale, g / scale, nu / scale
    lead, constant = nu - g, -(g + c) * r
    middle = nu * r - g * (r + 1.0) - c * r
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        larger = -0.5 * (middle + np.copysign(np.sqrt(middle**2 - 4.0 * lead * constant), middle))
        roots = [np.log1p(d) for d in (larger / lead, constant / larger)]
    first, second = (np.where(np.isnan(root), 0.0, root) for root in roots)
    return first, second


def stationary(c: FloatArray, g: FloatArray, nu: FloatArray, r: FloatArray) -> FloatArray:
    """The epsilon of the stationary point: 0 where nothing is gained, inf where nothing is paid."""
    scale = np.maximum(np.maximum(c, g), np.maximum(nu, 1e-300))
    c, g, nu = c / scale, g / scale, nu / scale
    lead, constant = nu - g, (g + c) * r
    middle = nu * r - g * (r + 1.0) - c * r
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(middle**2 + 4.0 * np.maximum(lead, 0.0) * constant)
        d = np.where(middle > 0, 2.0 * constant / (middle + root), (root - middle) / (2.0 * lead))
    d = np.where(lead > 0, d, np.inf)
    epsilon: FloatArray = np.where(constant > 0, np.log1p(d), 0.0)
    return epsilon


def _times(coefficient: FloatArray, factor: FloatArray) -> FloatArray:
    """The product, 0 where the coefficient is 0 and the factor infinite."""
    with np.errstate(invalid="ignore"):
        product: FloatArray = np.where(coefficient == 0, 0.0, coefficient * factor)
    return product
