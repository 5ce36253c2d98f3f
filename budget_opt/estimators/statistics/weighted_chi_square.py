"""The tail of a weighted sum of independent chi-squares of one freedom each.

P(Q > q) = 1/(2 pi i) times the integral over s, upward to the right of 0, of F(s) = prod (1 - 2 s w)^(-1/2)
exp(-s q) / s. Imhof (1961) integrates along the imaginary axis, where the integrand swings and small tails
drown in rounding. Here the path crosses the real axis at the saddle point of F in (0, 1 / (2 max w)) (Rice
1980, Helstrom 1983) and leans to the right as one half of a hyperbola, s = middle + width (lean (sqrt(x^2 +
9 lean^2) - 3 lean) + i x), where exp(-s q) decays: the branch points are on the real axis beyond, so that
the integral is the same. With few weights |F| falls slowly on the upright line, and the lean is what makes it
fall; with many and a small q it is the lean that lets 1/s exp(-s q) rise by orders of magnitude above F at
the saddle, and the upright line, on which every factor falls, that is right. So the largest lean is taken
along which |F| does not rise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import integrate, optimize, stats

from budget_opt.errors import InputError, NotSolvedError
from budget_opt.estimators.channels import FloatArray

_EQUAL = 1e-9
_NOTHING = -745.0
"""The logarithm below which a double is 0."""
_LEANS = (0.5, 0.25, 0.1, 0.03)
_RISE = 0.5
"""By how much log |F| may rise along a path."""
_LOOKED_AT = np.geomspace(0.5, 1e6, 64)

Path = Callable[[float], tuple[complex, complex]]


def weighted_chi_square_tail(observed: float, weights: npt.ArrayLike) -> float:
    """P(sum w_k Z_k^2 > observed), Z independent standard normal, weights >= 0, to about 1e-7 relative.

    It is 0 where it is below the smallest double. Raises `InputError` for no positive weight, or one that is
    negative or not finite, or for an observation that is no number, and `NotSolvedError` if the integral does
    not converge.
    """
    w = np.asarray(weights, dtype=np.float64).ravel()
    if not np.all(np.isfinite(w)) or np.any(w < 0) or not np.any(w > 0):
        raise InputError("weights: must be finite and at least 0, and one of them above 0.")
    if math.isnan(observed):
        raise InputError("observed: is not a number, must be the sum that was observed.")
    w = w[w > w.max() * 1e-14]
    if observed <= 0:
        return 1.0
    if w.max() - w.min() <= _EQUAL * w.max():
        return float(stats.chi2.sf(observed / w.mean(), w.size))
    w, q = w / w.max(), observed / float(w.max())
    if _exponent(0.25, w, q) + math.log(0.25) < _NOTHING:  # Chernoff's bound of the tail
        return 0.0
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

    def log_f(s: complex) -> complex:
        return complex(-0.5 * np.log(1 - 2 * s * w).sum() - s * q - np.log(s)) - top

    def rises(path: Path) -> bool:
        return any(log_f(path(x)[0]).real > _RISE for x in _LOOKED_AT)

    paths = (_path(middle, width, lean) for lean in _LEANS)
    path = next((one for one in paths if not rises(one)), _path(middle, width, 0.0))

    def density(x: float) -> float:
        s, step = path(x)
        return float((np.exp(log_f(s)) * step).imag)

    value, _, _, *warning = integrate.quad(
        density, 0, np.inf, epsabs=1e-10 * width, epsrel=1e-8, limit=400, full_output=True
    )
    if warning:
        raise NotSolvedError(
            f"the p value: the integral for the tail of a sum of {w.size:,} weighted chi-squares does not "
            'converge. Use method="permutation", or fewer categories.'
        )
    return float(value) / math.pi


def _path(middle: float, width: float, lean: float) -> Path:
    """s and ds/dx at x; curved at the saddle by 1/6 if it leans at all."""

    def at(x: float) -> tuple[complex, complex]:
        root = math.hypot(x, 3 * lean)
        slope = lean * x / root if root > 0 else 0.0
        across = lean * x * x / (root + 3 * lean) if root > 0 else 0.0
        return complex(middle + width * across, width * x), complex(width * slope, width)

    return at
