"""The inner maxima  W z + W2 z^2 / 2 - nu e(z)  over [L, U] (GLOBAL_SOLVER_PROOFS 1).

Convex, then concave, with W of any sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_NEWTONS = 6


@dataclass(frozen=True)
class Inner:
    """value = maximum + nu e(L), z where it is attained, and e(z) - e(L); (P, B) each."""

    value: FloatArray
    z: FloatArray
    more: FloatArray


@dataclass(frozen=True)
class Interval:
    """Cardinality (P, 1), ends in z and epsilon at the lower end, (P, B)."""

    r: FloatArray
    low: FloatArray
    high: FloatArray
    least: FloatArray


def inner_maxima(w: FloatArray, w2: FloatArray | None, nu: FloatArray, on: Interval) -> Inner:
    """All maxima; `w2` >= 0 is None where no quadratic star has a share."""
    if w2 is None:
        return _linear(w, nu, on)
    return _quadratic(w, w2, nu, on)


def _linear(w: FloatArray, nu: FloatArray, on: Interval) -> Inner:
    """The larger root of p(z) = r nu / W; where there is none, L is best, and no other point harms."""
    with np.errstate(over="ignore"):
        product = on.r * nu / (np.maximum(w, 0.0) + 1e-300)
        z = np.clip(inverse.upper_point(product, on.r), on.low, on.high)
    return _better(w, None, nu, on, z, None)


def _quadratic(w: FloatArray, w2: FloatArray, nu: FloatArray, on: Interval) -> Inner:
    """The largest root of p(z)(W + W2 z) = r nu by Newton from its right, made safe by the tangent there."""
    r, a = on.r, on.r - 1.0
    product = r * nu
    with np.errstate(over="ignore"):
        # W + W2 z <= W + W2: this root lies to the right of the one that is sought
        z = inverse.upper_point(product / (np.maximum(w + w2, 0.0) + 1e-300), r)
    middle = np.maximum((a - 1.0) / (2.0 * a), 0.0)  # convex up to here
    flat = -1e-12 * (np.abs(w) + w2)  # where the cubic has no root, any point will do
    for _ in range(_NEWTONS):
        p, p1 = inverse.slope_product(z, r)
        slope = w + w2 * z
        fall = np.minimum(p1 * slope + p * w2, flat - 1e-300)
        with np.errstate(over="ignore"):
            z = np.maximum(z - np.minimum(p * slope - product, 0.0) / fall, middle)
    z = np.clip(z, on.low, on.high)
    p, _ = inverse.slope_product(z, r)
    per = product / p
    error = 12 * 2.0**-53 * (np.abs(w) + w2 + per)
    g = w + w2 * z - per
    fall = np.maximum(error - g, 0.0) * (z - np.maximum(on.low, np.minimum(middle, z)))
    rise = np.maximum(error + g, 0.0) * (on.high - z)
    return _better(w, w2, nu, on, z, np.maximum(fall, rise))


def _better(
    w: FloatArray,
    w2: FloatArray | None,
    nu: FloatArray,
    on: Interval,
    z: FloatArray,
    slack: FloatArray | None,
) -> Inner:
    """The better of z and L."""
    more = rr.epsilon_for_retention(z, on.r) - on.least
    move = z - on.low
    slope = w if w2 is None else w + 0.5 * w2 * (z + on.low)
    gain = slope * move - nu * more
    if slack is not None:
        gain += slack
    at_low = w * on.low if w2 is None else (w + 0.5 * w2 * on.low) * on.low
    better = gain > 0
    return Inner(at_low + np.maximum(gain, 0.0), on.low + move * better, more * better)
