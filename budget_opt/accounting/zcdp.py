"""Zero-concentrated differential privacy of k-ary randomized response (Bun and Steinke 2016).

A mechanism is rho-zCDP where the Renyi divergence D_alpha of any two neighbours is at most rho alpha for
every alpha > 1, so the tight rho of one attribute is the supremum of D_alpha / alpha. Losses of independent
attributes add up: rho is a separable cost (DESIGN 2.4). For a block with another law, `loss` gives one of
this form that dominates it, and so an upper bound of its rho.

Letters: L = ln(t / o) the loss, t = P(report = truth), o = P(report = one given other), s = alpha - 1 > 0.
With o exp(L) = t and t + (r - 1) o = 1 the generating function K = s D_alpha of the loss is free of
cancellation:

    K(s) = log1p(Y),    Y = t expm1(s L) (1 - exp(-(s + 1) L)) = 4 t exp(-L / 2) sinh(s L / 2) sinh((s + 1) L
    / 2).

**The supremum, rounded up.** D_alpha <= L, so rho <= L, and past alpha = 1 / lambda nothing wins: D_alpha /
alpha tends to KL = lambda L for alpha -> 1 (t - o = lambda). Up to there [1, 1 / lambda] is cut into
intervals [a, b] of s, each with two upper bounds on K / (s (s + 1)):
- K is convex (a cumulant generating function) and v = 1 / (s (s + 1)) is convex, so on [a, b] both lie below
  their chords, and the product of a rising and a falling chord is a concave parabola with a known largest
  value;
- K v = (log1p(Y) / Y) C shc(s L / 2) shc((s + 1) L / 2), C = t exp(-L / 2) L^2 and shc x = sinh x / x: the
  first factor falls in s and the others rise, so the first at a and the others at b bound it (tight for small
  L).
Intervals whose bound does not pass the best value found are left, the others are cut again, until the largest
bound is within 1e-9 of the best value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.accounting.intervals import hull
from budget_opt.accounting.loss import ThreePoint
from budget_opt.errors import InputError
from budget_opt.mechanisms.privacy_loss import log_excess

FloatArray = npt.NDArray[np.float64]
_TOLERANCE = 1e-9
_ROUNDING = 1e-12
"""Relative: far more than the few dozen roundings of one bound."""
_PARTS = 256
_ROUNDS = 30
_BLOCK = 32
"""Attributes at a time: their arrays stay in the cache."""
_NEAR = 1e-11
_SMALL = 3e-5
"""The first interval ends at s = `_NEAR`, or where (s + 1) L = `_SMALL` if that is later."""


def tight_rho(points: Sequence[ThreePoint]) -> list[float]:
    """rho of each attribute, rounded up, at most 1e-8 relative above the supremum over all orders."""
    if not points:
        return []
    distinct = list(dict.fromkeys(points))
    found: dict[ThreePoint, float] = {}
    for start in range(0, len(distinct), _BLOCK):
        block = distinct[start : start + _BLOCK]
        found |= zip(block, _Orders.of(block).supremum().tolist(), strict=True)
    return [found[point] for point in points]


def least_rho(point: ThreePoint) -> float:
    """KL = lambda L, the limit of D_alpha / alpha for alpha -> 1: rho is at least that (up to rounding)."""
    return float(point.truth - point.other) * point.loss


def epsilon_of_zcdp(rho: float, delta: float) -> float:
    """The epsilon (nats, rounded up) at `delta` in (0, 1) that rho-zCDP implies, `rho` >= 0.

    The least over alpha of rho alpha + log(1 - 1 / alpha) - log(alpha delta) / (alpha - 1) (Canonne, Kamath,
    Steinke 2020, Proposition 12, with the Renyi divergence rho alpha); every alpha > 1 gives a bound. Raises
    `InputError` outside the ranges.
    """
    if not 0 <= rho < math.inf:
        raise InputError(f"rho: is {rho!r}, must be a finite number >= 0.")
    if not 0 < delta < 1:
        raise InputError(f"delta: is {delta!r}, must be above 0 and below 1.")
    if rho == 0:
        return 0.0
    low, high = 1e-9, 4.0 * (1.0 + math.sqrt(-math.log(delta) / rho))
    for _ in range(4):
        s = np.geomspace(low, high, _PARTS)
        # s = alpha - 1, and log(1 - 1 / alpha) = -log(1 + 1 / s)
        epsilon = rho * (1.0 + s) - np.log1p(1.0 / s) - (np.log1p(s) + math.log(delta)) / s
        best = int(np.argmin(epsilon))
        size = rho * (1.0 + s[best]) + (math.log1p(s[best]) - math.log(delta)) / s[best] + 1.0 / s[best]
        low, high = s[max(best - 1, 0)], s[min(best + 1, _PARTS - 1)]
    return max(0.0, float(epsilon[best] + _ROUNDING * size))


class _Orders:
    """The generating function of several attributes' losses, one a row, over s = alpha - 1."""

    def __init__(self, loss: FloatArray, truth: FloatArray, last: FloatArray, kl: FloatArray) -> None:
        self.loss, self.truth, self.last, self.kl = loss, truth, last, kl

    @classmethod
    def of(cls, points: Sequence[ThreePoint]) -> _Orders:
        kept = [point.truth - point.other for point in points]
        rows = (
            [point.loss for point in points],
            [float(point.truth) for point in points],
            [float((1 - share) / share) * (1.0 + _ROUNDING) for share in kept],
            [least_rho(point) for point in points],
        )
        return cls(*(np.array(row)[:, np.newaxis] for row in rows))

    def supremum(self) -> FloatArray:
        """D_alpha / alpha at most, over all alpha > 1, shape (attributes,)."""
        first = np.minimum(self.last, np.maximum(_NEAR, _SMALL / self.loss - 1.0))
        best = self.kl * (1.0 - _ROUNDING)
        left = self._first_bound(first)
        low, high = first, self.last
        for _ in range(_ROUNDS):
            s = low * (high / low) ** np.linspace(0.0, 1.0, _PARTS + 1)
            bound = self._bounds(s)
            best = np.maximum(best, np.max(self._value(s), axis=1, keepdims=True))
            open_ = bound > best * (1.0 + _TOLERANCE)
            if not open_.any():
                break
            low, high = hull(s, open_)
        else:
            left = np.maximum(left, np.max(bound, axis=1, keepdims=True))
        most = np.maximum(best * (1.0 + _TOLERANCE), left)
        return np.minimum(most * (1.0 + _ROUNDING), self.loss)[:, 0]

    def _log_y(self, s: FloatArray) -> FloatArray:
        rise, whole = s * self.loss, (s + 1.0) * self.loss
        return np.asarray(np.log(self.truth) + rise + log_excess(rise) + log_excess(whole))

    def _generating(self, s: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0.0, self._log_y(s)))

    def _value(self, s: FloatArray) -> FloatArray:
        return self._generating(s) / s / (s + 1.0)

    def _first_bound(self, s: FloatArray) -> FloatArray:
        """On (0, s]: D_alpha never falls in alpha, so D at s; and log1p(Y) <= Y."""
        return np.minimum(self._generating(s) / s, np.exp(self._log_growing(s)))

    def _log_growing(self, s: FloatArray) -> FloatArray:
        """log of C shc(s L / 2) shc((s + 1) L / 2)."""
        scale = np.log(self.truth) - self.loss / 2.0 + 2.0 * np.log(self.loss)
        return scale + _log_shc(s * self.loss / 2.0) + _log_shc((s + 1.0) * self.loss / 2.0)

    def _bounds(self, s: FloatArray) -> FloatArray:
        """An upper bound on each interval between neighbouring points of a row."""
        k, v = self._generating(s), 1.0 / s / (s + 1.0)
        rise, fall = k[:, 1:] - k[:, :-1], v[:, :-1] - v[:, 1:]
        with np.errstate(divide="ignore", invalid="ignore"):  # an interval without width: any place will do
            place = 0.5 * (v[:, :-1] / fall - k[:, :-1] / rise)
        place = np.clip(np.nan_to_num(place), 0.0, 1.0)
        chords = (k[:, :-1] + place * rise) * (v[:, :-1] - place * fall)
        falling = np.log(k[:, :-1]) - self._log_y(s)[:, :-1]
        with np.errstate(over="ignore"):
            return np.minimum(chords, np.exp(falling + self._log_growing(s)[:, 1:]))


def _log_shc(x: FloatArray) -> FloatArray:
    """log(sinh(x) / x) for x > 0."""
    return np.asarray(x + log_excess(2.0 * x) - np.log(2.0 * x))
