"""The tail of a weighted sum of independent chi-squares of one freedom each.

P(Q > q) = 1/(2 pi i) times the integral over s, upward to the right of 0, of F(s) = prod (1 - 2 s w)^(-1/2)
exp(-s q) / s. Imhof (1961) integrates along the imaginary axis, where the integrand swings and small tails
drown in rounding. Here the path crosses the real axis at the saddle point of F in (0, 1 / (2 max w)) and
bends to the right, where exp(-s q) decays (Rice 1980, Helstrom 1983): the branch points are on the real axis
beyond, so that the integral is the same, of one sign nearly everywhere, and exact relatively however small
it is.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import integrate, optimize, stats

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray

_EQUAL = 1e-9


def weighted_chi_square_tail(observed: float, weights: npt.ArrayLike) -> float:
    """P(sum w_k Z_k^2 > observed), Z independent standard normal, weights >= 0, to about 1e-7 relative.

    Raises `InputError` for no positive weight, or one that is negative or not finite.
    """
    w = np.asarray(weights, dtype=np.float64).ravel()
    if not np.all(np.isfinite(w)) or np.any(w < 0) or not np.any(w > 0):
        raise InputError("weights: must be finite and at least 0, and one of them above 0.")
    w = w[w > w.max() * 1e-14]
    if observed <= 0:
        return 1.0
    if w.max() - w.min() <= _EQUAL * w.max():
        return float(stats.chi2.sf(observed / w.mean(), w.size))
    w, q = w / w.max(), observed / float(w.max())
    middle = _saddle(w, q)
    return min(max(math.exp(_exponent(middle, w, q)) * _integral(middle, w, q), 0.0), 1.0)


def _exponent(s: float, w: FloatArray, q: float) -> float:
    """log F on the real axis between 0 and 1/2."""
    return float(-0.5 * np.log1p(-2 * s * w).sum() - s * q - math.log(s))


def _saddle(w: FloatArray, q: float) -> float:
    def slope(s: float) -> float:
        return float((w / (1 - 2 * s * w)).sum() - q - 1 / s)

    # at the ends the slope is -inf and +inf: of the largest weight, which is 1, and of 1/s
    low, high = 1 / (2 * (q + w.sum() + 2)), 0.5 * (1 - 1 / (2 * (q + 3)))
    while slope(low) > 0:
        low /= 2
    while slope(high) < 0:
        high = 0.5 - (0.5 - high) / 2
    return float(optimize.brentq(slope, low, high, xtol=1e-14 * high))


def _integral(middle: float, w: FloatArray, q: float) -> float:
    """1/pi times the integral of Im F(s) ds / F(middle) over the upper half of the path."""
    curvature = float((2 * w**2 / (1 - 2 * middle * w) ** 2).sum()) + 1 / middle**2
    width = 1 / math.sqrt(curvature)
    top = _exponent(middle, w, q)

    def density(x: float) -> float:
        s = complex(middle + width * x * x / 6, width * x)
        step = complex(width * x / 3, width)
        log_f = -0.5 * np.log(1 - 2 * s * w).sum() - s * q - np.log(s)
        return float((np.exp(log_f - top) * step).imag)

    value, _ = integrate.quad(density, 0, np.inf, epsabs=1e-10 * width, epsrel=1e-8, limit=400)
    return float(value) / math.pi
