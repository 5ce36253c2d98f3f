"""Second derivatives of a weighted sum, and their ranges on intervals (GLOBAL_SOLVER_PROOFS 2)."""

from __future__ import annotations

import numpy as np

from budget_opt.certificate.boxes.layout import Layout
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_OUTWARD = 1e-12
_TO_PEAK = np.log(2.0 + np.sqrt(3.0))


def mixed_derivatives(layout: Layout, z: FloatArray) -> FloatArray:
    """d2 F / dz_i dz_j of the ordered pairs (P, B) at z (M, B)."""
    total = np.zeros((layout.pairs, z.shape[1]))
    for degree in layout.degrees:
        size = degree.degree
        factors = z[degree.members]
        weight = degree.weight[:, None]
        entries = np.empty((degree.weight.size, size, size - 1, z.shape[1]))
        for centre in range(size):
            others = [q for q in range(size) if q != centre]
            for place, other in enumerate(others):
                rest = [q for q in others if q != other]
                entries[:, centre, place] = weight * np.prod(factors[:, rest], axis=1)
        total += degree.to_pairs @ entries.reshape(-1, z.shape[1])
    return total


def curvature(e: FloatArray, r: FloatArray) -> FloatArray:
    """lambda'' = -tanh((e - log(r - 1)) / 2) lambda'."""
    bent: FloatArray = -np.tanh(0.5 * (e - np.log(r - 1.0))) * rr.retention_slope(e, r)
    return bent


def largest_curvature(low: FloatArray, high: FloatArray, r: FloatArray) -> FloatArray:
    """The largest lambda'' on [low, high]: at an end, or at exp(e) = (r - 1)(2 - sqrt 3)."""
    peak = np.clip(np.log(r - 1.0) - _TO_PEAK, low, high)
    largest = np.maximum(np.maximum(curvature(low, r), curvature(high, r)), curvature(peak, r))
    outward: FloatArray = largest + _OUTWARD * np.abs(largest)
    return outward


def least_log_curvature(low: FloatArray, high: FloatArray, r: FloatArray) -> FloatArray:
    """The least -(log lambda)'' on [low, high]: at an end, or in the valley that it has for r >= 35."""
    a = r - 1.0
    delta = np.sqrt(np.maximum(a**2 - 34.0 * a + 1.0, 0.0))
    t = 0.5 * ((a - 1.0) - delta)
    valley = np.clip(np.log(0.5 * (t + np.sqrt(t**2 + 4.0 * a))), low, high)
    places = (low, high, valley)
    with np.errstate(divide="ignore", over="ignore"):
        bends = [-rr.log_retention_curvature(np.maximum(place, 1e-12), r) for place in places]
    least: FloatArray = np.minimum(np.minimum(bends[0], bends[1]), bends[2])
    return least
