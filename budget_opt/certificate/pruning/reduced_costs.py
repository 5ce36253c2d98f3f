"""Reduced costs: values of one attribute that the bound alone excludes (GLOBAL_SOLVER 3.4).

The bound is a sum of one maximum an attribute; with e_i held, it falls by max psi_i - psi_i(e_i).
"""

from __future__ import annotations

import numpy as np

from budget_opt.certificate.boxes.bound import Evaluation, Relaxation
from budget_opt.certificate.boxes.maxima import Psi, second_piece
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import BoolArray, FloatArray

_BISECTIONS = 12
_ROUNDING = 1e-12


def reduced(
    on: Relaxation, found: Evaluation, cut: float | FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """The boxes (M, B) cut to where psi_i >= max psi_i - (bound - cut), and which have any such point."""
    psi, outer = found.outer.psi, found.outer
    z = np.clip(outer.point, psi.low, psi.high)
    size = np.abs(found.bound) + psi.mu * on.most + np.abs(psi.d) * psi.high + psi.d2 * psi.high**2
    size += (psi.high - psi.low) * (np.abs(psi.c) + psi.nu * on.most)
    threshold = outer.each - (found.bound - cut) - _ROUNDING * size
    low_in = psi.value(psi.low) >= threshold
    inside_in = outer.inside >= threshold
    z_in = psi.value(z) >= threshold
    high_in = psi.value(psi.high) >= threshold
    if second_piece(psi) is not None:
        # a second convex piece may hide another stretch above the threshold
        plain = ~np.isfinite(np.asarray(second_piece(psi)))
    else:
        plain = np.ones_like(low_in)
    active = found.bound > cut
    raise_low = ~low_in & z_in & plain & active
    cut_high = ~high_in & (z_in | (low_in & ~inside_in)) & plain & active
    if np.any(raise_low):
        outside, _ = _crossing(psi, threshold, psi.low, z)
        lower = np.where(
            raise_low, np.maximum(lower, rr.epsilon_for_retention(outside, on.r) * (1 - _ROUNDING)), lower
        )
    if np.any(cut_high):
        start = np.where(inside_in, z, psi.low)
        outside, _ = _crossing(psi, threshold, psi.high, start)
        upper = np.where(
            cut_high, np.minimum(upper, rr.epsilon_for_retention(outside, on.r) * (1 + _ROUNDING)), upper
        )
    possible = np.all(low_in | inside_in, axis=0) & np.all(lower <= upper, axis=0)
    return lower, upper, possible | ~active


def _crossing(
    psi: Psi, threshold: FloatArray, out: FloatArray, into: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Points that enclose where psi passes the threshold, between `out` (below it) and `into`."""
    for _ in range(_BISECTIONS):
        middle = 0.5 * (out + into)
        above = psi.value(middle) >= threshold
        out, into = np.where(above, out, middle), np.where(above, middle, into)
    return out, into
