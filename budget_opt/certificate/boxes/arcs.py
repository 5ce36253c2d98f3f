"""What every arc says about its term on each box (GLOBAL_SOLVER 2).

A star with centre i over-estimates the product of the others by  constant + sum_q (linear_q z_q + bend_q
z_q^2 / 2);  the
global quadratic over-estimates the whole product. With weights >= 0 the product is supermodular and
coordinate-wise convex, so that the facets of its Lovasz extension hold; for q first in an order and Q the
rest,
(U_q - z_q)(prod_Q z - prod_Q L) >= 0 gives them by induction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.layout import DegreeLayout
from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Stars:
    """The stars of one degree d >= 3, n = d arcs a centre, the quadratic one last.

    constant (T, d, n, B), linear (T, d, n, d - 1, B), bend (T, d, d - 1, B) of the last arc.
    """

    constant: FloatArray
    linear: FloatArray
    bend: FloatArray


@dataclass(frozen=True)
class Arcs:
    """Arcs of one degree; `stars` is None for pairs, whose stars are z_j itself.

    The global quadratic: constant (T, B), linear and bend (T, d, B). `size` (T, B) bounds the sum of the
    absolute
    values of everything that is summed for one term, over the box.
    """

    low: FloatArray
    stars: Stars | None
    constant: FloatArray
    linear: FloatArray
    bend: FloatArray
    size: FloatArray

    def only(self, index: IntArray) -> Arcs:
        """The arcs on some of the boxes."""
        stars = self.stars
        if stars is not None:
            stars = Stars(*(x[..., index] for x in (stars.constant, stars.linear, stars.bend)))
        parts = (x[..., index] for x in (self.constant, self.linear, self.bend, self.size))
        return Arcs(self.low[..., index], stars, *parts)


def arcs_of(degree: DegreeLayout, low: FloatArray, high: FloatArray, point: FloatArray) -> Arcs:
    """The arcs of one degree on boxes [low, high] (M, B) with tangents at `point` (M, B)."""
    L, U, v = (x[degree.members] for x in (low, high, point))
    everyone = list(range(degree.degree))
    constant, linear, bend, size = _quadratic(U, v, everyone)
    if degree.degree == 2:
        pair = np.maximum((U[:, 0] + 2 * L[:, 0]) * U[:, 1], (U[:, 1] + 2 * L[:, 1]) * U[:, 0])
        return Arcs(L, None, constant, linear, bend, np.maximum(size, pair))
    found = [_centred(L, U, v, centre) for centre in everyone]
    stars = Stars(*(np.stack(parts, axis=1) for parts in list(zip(*found, strict=True))[:3]))
    for centre, (_, _, _, inside) in zip(everyone, found, strict=True):
        size = np.maximum(size, (U[:, centre] + 2 * L[:, centre]) * inside)
    return Arcs(L, stars, constant, linear, bend, size)


def _centred(
    L: FloatArray, U: FloatArray, v: FloatArray, centre: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Constants (T, n, B), slopes (T, n, d - 1, B), bend (T, d - 1, B), size of one centre's stars."""
    rest = [q for q in range(L.shape[1]) if q != centre]
    low, high = L[:, rest], U[:, rest]
    count = len(rest)
    constants, slopes = [], []
    size = np.zeros_like(low[:, 0])
    for turn in range(count):
        order = [*range(turn, count), *range(turn)]
        constant, slope, parts = _facet(low, high, order)
        constants.append(constant)
        slopes.append(slope)
        size = np.maximum(size, parts + np.sum(slope * high, axis=1))
    constant, slope, bend, inside = _quadratic(U, v, rest)
    return (
        np.stack([*constants, constant], axis=1),
        np.stack([*slopes, slope], axis=1),
        bend,
        np.maximum(size, inside),
    )


def _facet(L: FloatArray, U: FloatArray, order: list[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Constant, slopes c_q = prod_earlier U prod_later L, and the constant's absolute parts."""
    slope = np.empty_like(L)
    earlier = np.ones_like(L[:, 0])
    constant, parts = np.zeros_like(earlier), np.zeros_like(earlier)
    for place, q in enumerate(order):
        later = np.prod(L[:, order[place + 1 :]], axis=1)
        slope[:, q] = earlier * later
        if place + 1 < len(order):
            part = earlier * U[:, q] * later
            constant, parts = constant - part, parts + part
        earlier = earlier * U[:, q]
    return constant, slope, parts


def _quadratic(
    U: FloatArray, v: FloatArray, members: list[int]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Constant, slopes, bends of the product of `members` at v, and its absolute size on the box.

    The Hessian of a product has a zero diagonal and its entries are at most those at U: Gershgorin.
    """
    constant = np.prod(v[:, members], axis=1)
    size = constant.copy()
    slopes, bends = [], []
    for q in members:
        others = [s for s in members if s != q]
        slope = np.prod(v[:, others], axis=1)
        bend = np.zeros_like(slope)
        for s in others:
            bend = bend + np.prod(U[:, [t for t in others if t != s]], axis=1)
        slopes.append(slope - bend * v[:, q])
        bends.append(bend)
        constant = constant - slope * v[:, q] + 0.5 * bend * v[:, q] ** 2
        size = size + (slope + bend * v[:, q]) * (U[:, q] + v[:, q])
        size = size + 0.5 * bend * (U[:, q] ** 2 + v[:, q] ** 2)
    return constant, np.stack(slopes, axis=1), np.stack(bends, axis=1), size
