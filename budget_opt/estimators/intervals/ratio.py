"""The ratio of two estimates: its error by the delta method, its interval by Fieller's theorem (1954).

All in units of the denominator: m the ratio, v the variance of the numerator, c the covariance of both and
d the variance of the denominator, each over the denominator's square. A ratio r is in the interval where
numerator - r denominator is within z of its own standard errors of 0:

    (m - r)^2 <= z^2 (v - 2 r c + r^2 d)

which keeps its level where the denominator is uncertain and the delta method's interval does not; for d -> 0
both are the same. Where z^2 d >= 1 the denominator may be 0, and every ratio is possible.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def ratio_variance(m: FloatArray, v: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """The variance of ratios by the delta method."""
    variance: FloatArray = v - 2 * m * c + m * m * d
    return np.maximum(variance, 0.0)


def ratio_interval(
    m: FloatArray, v: FloatArray, c: FloatArray, d: FloatArray, z: float | FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The ends of Fieller's intervals that reach `z` standard errors; infinite where there is none."""
    square = z * z
    certain = 1 - square * d
    centre = m - square * c
    # the discriminant (m - z^2 c)^2 - (1 - z^2 d)(m^2 - z^2 v) without its cancelling squares of m
    inner = square * (ratio_variance(m, v, c, d) - square * (v * d - c * c))
    half = np.sqrt(np.maximum(inner, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(certain > 0, (centre - half) / certain, -np.inf)
        high = np.where(certain > 0, (centre + half) / certain, np.inf)
    return low, high
