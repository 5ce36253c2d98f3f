"""The one-dimensional maxima of the bound, in z = lambda (GLOBAL_SOLVER_PROOFS 1).

    psi(z) = (z - L)(C - nu e(z)) + D z + D2 z^2 / 2 - mu e(z),      nu, mu, D2 >= 0; C, D of any sign
    G = psi' = C + D + D2 z - nu e - r A / p,                        A = nu (z - L) + mu
    S = psi'' = D2 - 2 r nu / p + r A p' / p^2

psi is convex, then concave, on [L, U], but for one rare arrangement that has an exact test. Its maximum is at
L, at the stationary point of the concave part, or at U. A point that is not quite stationary is made safe by
the tangent. The inner maxima W z + W2 z^2 / 2 - nu e are the case C = nu = 0, D = W, D2 = W2, mu = nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import BoolArray, FloatArray

_UNIT = 2.0**-53
_BISECTIONS = 6
_NEWTONS = 5


class Peak(NamedTuple):
    """Upper bounds of the maximum, and of it but for the lower end, safe against a loose point; the point."""

    value: FloatArray
    inside: FloatArray
    z: FloatArray


@dataclass(frozen=True)
class Psi:
    """The coefficients of psi and its interval, arrays that broadcast."""

    c: FloatArray
    d: FloatArray
    d2: FloatArray
    nu: FloatArray
    mu: FloatArray
    cardinality: FloatArray
    low: FloatArray
    high: FloatArray

    def value(self, z: FloatArray) -> FloatArray:
        """psi at z."""
        epsilon = rr.epsilon_for_retention(z, self.cardinality)
        total: FloatArray = (
            (z - self.low) * (self.c - self.nu * epsilon)
            + z * (self.d + 0.5 * self.d2 * z)
            - self.mu * epsilon
        )
        return total

    def slopes(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """G and S at z."""
        p, p1 = inverse.slope_product(z, self.cardinality)
        epsilon = rr.epsilon_for_retention(z, self.cardinality)
        price = self.nu * (z - self.low) + self.mu
        per = self.cardinality / p
        g = self.c + self.d + self.d2 * z - self.nu * epsilon - price * per
        s = self.d2 - 2.0 * self.nu * per + price * per * p1 / p
        return g, s

    def evaluation_error(self, z: FloatArray) -> FloatArray:
        """What rounding may hide in G at z (GLOBAL_SOLVER_PROOFS 3)."""
        p, _ = inverse.slope_product(z, self.cardinality)
        epsilon = rr.epsilon_for_retention(z, self.cardinality)
        price = self.nu * (z - self.low) + self.mu
        error: FloatArray = (
            12
            * _UNIT
            * (np.abs(self.c) + np.abs(self.d) + self.d2 + self.nu * epsilon + price * self.cardinality / p)
        )
        return error


def peak(psi: Psi) -> Peak:
    """The maximum of psi over [low, high], elementwise; what rounding in psi hides is not in it."""
    inside, z = _last_piece(psi, psi.low)
    troubled = second_piece(psi)
    if troubled is not None:
        inside = np.maximum(inside, troubled)
    return Peak(np.maximum(inside, psi.value(psi.low)), inside, z)


def _last_piece(psi: Psi, first: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The maximum over [first, high], where psi is convex and then concave, but for the value at `first`."""
    at = _located(psi, first)
    g, s = psi.slopes(at.z)
    slack = psi.evaluation_error(at.z)
    # where psi is concave at z, it lies below its tangent from `left` to `right`, and its maximum is there
    rise = np.maximum((g + slack) * (at.right - at.z), (slack - g) * (at.z - at.left))
    value = psi.value(at.z) + np.where(s < 0, rise, 0.0) + psi.evaluation_error(at.left) * (at.left - psi.low)
    return value, at.z


class _Located(NamedTuple):
    """A point near the stationary point of the concave part, and points on both sides that enclose it.

    `left` is where psi is still convex, or concave and rising; or the lower end. Where psi is convex at z it
    is so on the whole interval, and z is the upper end.
    """

    z: FloatArray
    left: FloatArray
    right: FloatArray


def _located(psi: Psi, first: FloatArray) -> _Located:
    """Bisection and Newton on [first, high], in e, in which psi bends evenly."""
    r = psi.cardinality
    shape = np.broadcast_shapes(*(x.shape for x in (psi.c, psi.d, psi.d2, psi.nu, psi.mu, psi.low, psi.high)))
    low, high = np.broadcast_to(first, shape), np.broadcast_to(psi.high, shape)
    left, right = rr.epsilon_for_retention(low, r), rr.epsilon_for_retention(high, r)
    g, s = psi.slopes(high)
    beyond = (g >= 0) | (s >= 0)  # nothing to look for below the upper end
    e = 0.5 * (left + right)
    for turn in range(_BISECTIONS + _NEWTONS):
        z = np.clip(rr.retention(e, r), low, high)
        g, s = psi.slopes(z)
        falls = (g < 0) & (s < 0)
        left, right = np.where(falls, left, e), np.where(falls, e, right)
        e = 0.5 * (left + right)
        if turn >= _BISECTIONS:
            p, p1 = inverse.slope_product(z, r)
            with np.errstate(divide="ignore", invalid="ignore"):
                newton = rr.epsilon_for_retention(z, r) - g / (s * p / r + g * p1 / r)
            e = np.where((newton > left) & (newton < right), newton, e)
    z_right = np.clip(rr.retention(right, r), low, high)
    z = np.clip(rr.retention(e, r), low, z_right)
    # no stationary point: psi falls from where it turns concave, and the nearest such point stands for it
    z = np.where(psi.slopes(z)[1] < 0, z, z_right)
    z_left = np.clip(rr.retention(left, r), low, z)
    return _Located(np.where(beyond, high, z), np.where(beyond, low, z_left), np.where(beyond, high, z_right))


def second_piece(psi: Psi) -> FloatArray | None:
    """A bound of psi where the signs of S are (+) - + -, -inf elsewhere; None where that is nowhere possible.

    The exact test for the one arrangement in which psi is not convex-then-concave.
    """
    a = psi.cardinality - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        omega = 8.0 * a * psi.nu / (psi.cardinality * psi.d2)
    possible = (omega < 4.0 / 3.0) & (psi.nu > 0)
    if not np.any(possible):
        return None
    return _second_piece(psi, np.where(possible, omega, 0.0), possible)


def _second_piece(psi: Psi, omega: FloatArray, possible: BoolArray) -> FloatArray | None:
    """Up-crossings of S lie between q- and q+ of tau^2, where S must rise from below 0 to above."""
    a = psi.cardinality - 1.0
    spread = np.sqrt(4.0 - 3.0 * omega)
    q_plus = (1.0 + spread) / 3.0
    q_minus = np.maximum(np.maximum((1.0 - spread) / 3.0, 1.0 - omega), 0.0)
    start = np.maximum(psi.low, (a - 1.0 - psi.cardinality * np.sqrt(q_plus)) / (2.0 * a))
    end = np.minimum(psi.high, (a - 1.0 - psi.cardinality * np.sqrt(q_minus)) / (2.0 * a))
    inside = possible & (start < end)
    start, end = np.where(inside, start, psi.low), np.where(inside, end, psi.low)
    g, s_start = psi.slopes(start)
    trouble = inside & (s_start < 0) & (psi.slopes(end)[1] > 0)
    if not np.any(trouble):
        return None
    slack = psi.evaluation_error(start)
    first = psi.value(start) + np.maximum((g + slack) * (end - start), (slack - g) * (start - psi.low))
    rest = np.maximum(psi.value(end), _last_piece(psi, end)[0])
    bound: FloatArray = np.where(trouble, np.maximum(first, rest), -np.inf)
    return bound
