"""The innermost maxima  W z - nu e(z)  over [L, U], in closed form: convex, then concave.

(GLOBAL_SOLVER_PROOFS 1.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class Inner:
    """value = maximum with e counted from e(L), z where it is attained, and e(z) - e(L)."""

    value: FloatArray
    z: FloatArray
    more: FloatArray


@dataclass(frozen=True)
class Interval:
    """Cardinality (P, 1), ends in z and in epsilon, (P, B)."""

    r: FloatArray
    low: FloatArray
    high: FloatArray
    least: FloatArray
    most: FloatArray


def inner_maxima(w: FloatArray, nu: FloatArray, on: Interval) -> Inner:
    """The larger root of p(z) = r nu / W, or L; where there is no root, L is best, and no point harms."""
    with np.errstate(over="ignore"):
        product = on.r * nu / (np.maximum(w, 0.0) + 1e-300)
        z = np.clip(inverse.upper_point(product, on.r), on.low, on.high)
    more = rr.epsilon_for_retention(z, on.r) - on.least
    move = z - on.low
    gain = w * move - nu * more
    better = gain > 0
    return Inner(w * on.low + np.maximum(gain, 0.0), on.low + move * better, more * better)
