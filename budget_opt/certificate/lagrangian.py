"""The separable maximum behind every convex certificate (DESIGN 2.5; shared/CONVEX_SOLVER.md, Stop 2).

Letters: c, g, nu >= 0 the coefficients of log lambda, of -log tau and of -epsilon; r the effective
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

    All of c, g, nu are >= 0; `upper` may be inf, and the value is then inf where nu < g, or nu = g = 0
    leaves the supremum 0. The function is concave in logit lambda, with one stationary point

        (nu - g) d^2 + (nu r - g (r + 1) - c r) d - (g + c) r = 0.

    value + allowance is at least the exact maximum of the given doubles: the root is a backward stable
    function of c, g, nu, and an error of the maximizer enters in second order only.
    """
    epsilon = np.clip(stationary(c, g, nu, cardinality), lower, upper)
    terms = (
        _times(c, rr.log_retention(epsilon, cardinality)),
        _times(g, -rr.log_tau(epsilon, cardinality)),
        _times(nu, -epsilon),
    )
    size = sum(np.abs(term) for term in terms) + _times(g, epsilon)
    with np.errstate(invalid="ignore"):
        value = np.asarray(sum(terms))
    value = np.where(np.isnan(value), np.inf, value)  # inf - inf: epsilon is unbounded, the supremum too
    return Maxima(value, epsilon, _ROUNDINGS * UNIT_ROUNDOFF * np.asarray(size) + _VANISHING)


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
