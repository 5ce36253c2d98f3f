"""The nested maxima  W z + W2 z^2 / 2 + (z - L)(C - nu m) - mu m,  m = e(z) - e(L),  over [L, U].

With nu, mu, W2 >= 0 the function is convex, then concave, for C and W of any sign, but for one rare
arrangement (GLOBAL_SOLVER_PROOFS 1). A point that is not quite stationary is made safe by the tangent there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from budget_opt.certificate.boxes.inner import Inner, Interval
from budget_opt.certificate.boxes.maxima import Psi, second_piece
from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

_UNIT = 2.0**-53


class Coefficients(NamedTuple):
    """C (E, N, B); W, W2, mu (N, B); nu (N, B) or (1,)."""

    c: FloatArray
    w: FloatArray
    w2: FloatArray
    nu: FloatArray
    mu: FloatArray


def nested_maxima(psi: Coefficients, on: Interval, newtons: int) -> Inner:
    """All maxima, from points found in so many Newton steps."""
    w, w2, nu, mu = psi.w, psi.w2, psi.nu, psi.mu
    k = psi.c + w
    ends = _located(k, psi, on, newtons)
    left, z, right = (np.clip(rr.retention(e, on.r), on.low, on.high) for e in ends)
    move, more = z - on.low, rr.epsilon_for_retention(z, on.r) - on.least
    p, p1 = inverse.slope_product(z, on.r)
    per = on.r / p
    charge = nu * move + mu
    paid = charge * per
    lost = nu * more
    g = k + w2 * z - lost - paid
    slack = 12 * _UNIT * (np.abs(k) + w2 + nu * (on.least + more) + paid)
    gain = move * (k + 0.5 * w2 * (z + on.low) - lost) - mu * more
    # concave at z: the maximum lies between `left` and `right`, under the tangent at z
    tangent = np.maximum(g * (right - z), -g * (z - left)) + slack * (on.high - on.low)
    concave = w2 * p + (charge * p1 / p - 2.0 * nu) * on.r <= 0
    # convex at `right`, beyond which it falls: an end is best; convex elsewhere: a bound without any price
    other = np.where(z >= right, 0.0, np.maximum(k + w2, 0.0) * (on.high - on.low) - gain)
    gain += np.where(concave, tangent, other)
    _raise_troubled(gain, k, psi, on)
    better = gain > 0
    return Inner(
        (w + 0.5 * w2 * on.low) * on.low + np.maximum(gain, 0.0), on.low + move * better, more * better
    )


def _located(
    k: FloatArray, psi: Coefficients, on: Interval, newtons: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """epsilon near the stationary point of the concave part, and points left and right that enclose it.

    The function rises by gross = (K + W2 z - nu m) p / r and falls by charge = nu (z - L) + mu, K = C + W; in
    e the difference of the logarithms is nearly linear where it is concave, and Newton finds where it is 0.
    """
    w2, nu, mu = psi.w2, psi.nu, psi.mu
    r, a = on.r, on.r - 1.0
    left = np.full(k.shape, -np.inf)
    peak = 0.25 * r / a  # of p / r
    with np.errstate(all="ignore"):
        product = r * (nu * (1.0 - on.low) + mu) / np.maximum(k + w2, 1e-300)
        e = rr.epsilon_for_retention(np.minimum(inverse.upper_point(product, r), 1 - 1e-15), r)
        right = on.least + np.maximum(k + w2, 0.0) / np.maximum(nu, 1e-300)  # gross is 0 there
        e = np.clip(np.minimum(e, 0.5 * (on.least + right)), on.least, on.most)
        for turn in range(newtons):
            x = np.exp(-e)
            base = 1.0 + a * x
            slope = r * x / base**2  # p / r
            bent = (a * x - 1.0) / base  # p' / r
            z = (1.0 - x) / base
            gross = k + w2 * z - nu * (e - on.least)
            charge = nu * (z - on.low) + mu
            convex = w2 * slope**2 + charge * bent >= 2.0 * nu * slope
            rises = gross * slope >= charge
            # gross grows by W2 (U - z) at most from here on, and charge grows: it may never rise again
            ends = convex & ((gross + w2 * (on.high - z)) * peak <= charge)
            falls = ~rises & ~convex | ends
            left, right = np.where(falls, left, e), np.where(falls, e, right)
            fall = bent + (w2 * slope - nu) / gross - nu * slope / charge
            new = e - np.log(gross * slope / charge) / fall
            new = np.where(convex, on.most, np.clip(new, on.least, on.most))
            middle = np.minimum(right, on.most)
            if turn < newtons - 1:
                middle = 0.5 * (np.maximum(left, on.least) + middle)
            e = np.where(ends, e, np.where((new > left) & (new < right), new, middle))
    return np.maximum(left, on.least), e, np.minimum(right, on.most)


def _raise_troubled(gain: FloatArray, k: FloatArray, psi: Coefficients, on: Interval) -> None:
    """Raise the gains (E, N, B) where a second convex piece may hide another maximum."""
    # 8 a nu / (r W2) < 4/3 is the exact test's first condition
    possible = np.broadcast_to((psi.nu > 0) & (6.0 * (on.r - 1.0) * psi.nu < on.r * psi.w2), gain.shape)
    if not np.any(possible):
        return
    at = np.nonzero(possible)
    k, w2, nu, mu, r, low, high, least = (
        np.broadcast_to(x, gain.shape)[at]
        for x in (k, psi.w2, psi.nu, psi.mu, on.r, on.low, on.high, on.least)
    )
    # in the terms of psi, with epsilon from 0: C + nu e(L) and the value - mu e(L); W joins C
    whole = Psi(k + nu * least, np.zeros_like(k), w2, nu, mu, r, low, high)
    found = second_piece(whole)
    if found is not None:
        gain[at] = np.maximum(gain[at], found - whole.value(low))
