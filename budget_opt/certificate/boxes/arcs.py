"""What every arc says about its term on each box (GLOBAL_SOLVER 2; GLOBAL_SOLVER_PROOFS 6).

The global quadratic over-estimates the whole product. A nested arc takes a centre and a second attribute out
and over-estimates the product of the others by a facet  constant + sum_q slope_q z_q. With weights >= 0 the
product is supermodular and coordinate-wise convex, so that the facets of its Lovasz extension hold; for q
first in an order and Q the rest, (U_q - z_q)(prod_Q z - prod_Q L) >= 0 gives them by induction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.layout import DegreeLayout, Nesting
from budget_opt.model.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Facets:
    """The facets of the others for S ordered pairs: constant (T, S, B), slope (T, S, d - 2, B)."""

    constant: FloatArray
    slope: FloatArray


@dataclass(frozen=True)
class Stars:
    """The quadratic stars of d centres: constant (T, d, B), linear and bend (T, d, d - 1, B)."""

    constant: FloatArray
    linear: FloatArray
    bend: FloatArray


@dataclass(frozen=True)
class Arcs:
    """Arcs of one degree; `facets` is None for pairs and triples, where one attribute at most is left.

    The global quadratic: constant (T, B), linear and bend (T, d, B). `size` (T, B) bounds the sum of the
    absolute values of everything that is summed for one term, over the box; `facet_size` is the facets' part.
    """

    low: FloatArray
    facets: Facets | None
    facet_size: FloatArray
    stars: Stars | None
    constant: FloatArray
    linear: FloatArray
    bend: FloatArray
    size: FloatArray

    def only(self, index: IntArray) -> Arcs:
        """The arcs on some of the boxes."""
        facets = self.facets
        if facets is not None:
            facets = Facets(facets.constant[..., index], facets.slope[..., index])
        stars = self.stars
        if stars is not None:
            stars = Stars(stars.constant[..., index], stars.linear[..., index], stars.bend[..., index])
        parts = (x[..., index] for x in (self.constant, self.linear, self.bend, self.size))
        return Arcs(self.low[..., index], facets, self.facet_size[..., index], stars, *parts)


def arcs_of(degree: DegreeLayout, low: FloatArray, high: FloatArray, point: FloatArray) -> Arcs:
    """The arcs of one degree on boxes [low, high] (M, B) with tangents at `point` (M, B)."""
    L, U = low[degree.members], high[degree.members]
    wide, facets = U + 2 * L, None
    if degree.nesting is None:
        size = np.maximum(wide[:, 0] * U[:, 1], wide[:, 1] * U[:, 0])
    elif degree.degree == 3:
        i, j, k = (wide[:, q] for q in range(3))
        size = np.maximum(np.maximum(i * j * U[:, 2], i * U[:, 1] * k), U[:, 0] * j * k)
    else:
        facets, parts = _facets(degree.nesting, L, U)
        taken_out = wide[:, degree.nesting.first] * wide[:, degree.nesting.second]
        size = np.max(taken_out * parts, axis=1)
    return _touching(degree, L, facets, size, U, point[degree.members])


def touching(degree: DegreeLayout, arcs: Arcs, high: FloatArray, point: FloatArray) -> Arcs:
    """The arcs of the same boxes with tangents at another point (M, B)."""
    U, v = high[degree.members], point[degree.members]
    return _touching(degree, arcs.low, arcs.facets, arcs.facet_size, U, v)


def _touching(
    degree: DegreeLayout, L: FloatArray, facets: Facets | None, size: FloatArray, U: FloatArray, v: FloatArray
) -> Arcs:
    """Add the quadratics with tangents at v to facets of the given size."""
    constant, linear, bend, inside = _quadratic(U, v)
    largest, stars = np.maximum(size, inside), None
    if degree.starred:
        stars, star_size = _stars(U, v)
        largest = np.maximum(largest, np.max((U + 2 * L) * star_size, axis=1))
    return Arcs(L, facets, size, stars, constant, linear, bend, largest)


def _facets(nesting: Nesting, L: FloatArray, U: FloatArray) -> tuple[Facets, FloatArray]:
    """All facets, and the sums (T, S, B) of the absolute values of what each is made of.

    slope_q = prod_earlier U prod_later L; the constant makes the facet exact at U.
    """
    low, high = L[:, nesting.rest], U[:, nesting.rest]
    slope = np.empty_like(low)
    earlier = np.ones_like(low[:, :, 0])
    below, size = np.zeros_like(earlier), np.zeros_like(earlier)
    last = low.shape[2] - 1
    for place in range(last + 1):
        slope[:, :, place] = earlier * np.prod(low[:, :, place + 1 :], axis=2)
        part = slope[:, :, place] * high[:, :, place]
        size += part
        if place < last:
            below += part
        earlier = earlier * high[:, :, place]
    return Facets(-below, slope), below + size


def _stars(U: FloatArray, v: FloatArray) -> tuple[Stars, FloatArray]:
    """The quadratic stars, and their absolute sizes (T, d, B)."""
    size = U.shape[1]
    rests = [[q for q in range(size) if q != centre] for centre in range(size)]
    constant, linear, bend, inside = zip(*(_quadratic(U[:, rest], v[:, rest]) for rest in rests), strict=True)
    stars = Stars(np.stack(constant, axis=1), np.stack(linear, axis=1), np.stack(bend, axis=1))
    return stars, np.stack(inside, axis=1)


def _quadratic(U: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Constant, slopes, bends of the whole product at v, and its absolute size on the box.

    The Hessian of a product has a zero diagonal and its entries are at most those at U: Gershgorin.
    """
    members = range(U.shape[1])
    constant = np.prod(v, axis=1)
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
