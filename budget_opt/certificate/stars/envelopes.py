"""What each arc says about its term on each box: constant + sum_q (linear_q z_q + quadratic_q z_q^2 / 2).

For a star the sum is over the term without its centre and over-estimates the product of the others; for the
global quadratic it over-estimates the whole product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.stars.structure import Degree
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class Envelope:
    """Arcs of one degree: constant (T, A, B), linear and quadratic (T, A, d, B), 0 at the centre.

    `size` (T, A, B) bounds the sum of the absolute values of everything summed, over the box, the
    centre's factor included.
    """

    constant: FloatArray
    linear: FloatArray
    quadratic: FloatArray
    size: FloatArray


def envelope(degree: Degree, low: FloatArray, high: FloatArray, point: FloatArray) -> Envelope:
    """The arcs of one degree on boxes [low, high] (M, B) with tangents at `point` (M, B)."""
    L, U, v = (x[degree.members] for x in (low, high, point))
    shape = (len(L), degree.arcs, degree.degree, L.shape[-1])
    constant, size = np.zeros((shape[0], shape[1], shape[3])), np.zeros((shape[0], shape[1], shape[3]))
    linear, quadratic = np.zeros(shape), np.zeros(shape)
    for arc, (centre, order) in enumerate(degree.facets):
        constant[:, arc], parts = _facet(L, U, order, linear[:, arc])
        inside = parts + sum(linear[:, arc, q] * U[:, q] for q in order)
        size[:, arc] = (U[:, centre] + 2.0 * L[:, centre]) * inside
    for arc in range(len(degree.facets), degree.arcs):
        centre = int(degree.centres[arc])
        others = [q for q in range(degree.degree) if q != centre]
        constant[:, arc], inside = _quadratic(U, v, others, linear[:, arc], quadratic[:, arc])
        size[:, arc] = inside if centre < 0 else (U[:, centre] + 2.0 * L[:, centre]) * inside
    return Envelope(constant, linear, quadratic, size)


def _facet(
    L: FloatArray, U: FloatArray, order: tuple[int, ...], linear: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fill the slopes c_q = prod_earlier U prod_later L; return the constant and its absolute parts.

    By induction, for q first in the order and Q the rest:  (U_q - z_q)(prod_Q z - prod_Q L) >= 0.
    """
    earlier = np.ones_like(U[:, 0])
    constant, parts = np.zeros_like(earlier), np.zeros_like(earlier)
    for place, q in enumerate(order):
        later = np.ones_like(earlier)
        for s in order[place + 1 :]:
            later = later * L[:, s]
        linear[:, q] = earlier * later
        if place + 1 < len(order):
            part = earlier * U[:, q] * later
            constant, parts = constant - part, parts + part
        earlier = earlier * U[:, q]
    return constant, parts


def _quadratic(
    U: FloatArray, v: FloatArray, others: list[int], linear: FloatArray, quadratic: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fill tangent and curvature at v; return the constant and the absolute size on the box.

    The Hessian of a product has a zero diagonal and its entries are at most those at U: Gershgorin.
    """
    product = np.ones_like(v[:, 0])
    for q in others:
        product = product * v[:, q]
    constant, size = product.copy(), product.copy()
    for q in others:
        slope, bend = np.ones_like(product), np.zeros_like(product)
        for s in others:
            if s == q:
                continue
            slope = slope * v[:, s]
            rest = np.ones_like(product)
            for t in others:
                if t not in (q, s):
                    rest = rest * U[:, t]
            bend = bend + rest
        linear[:, q], quadratic[:, q] = slope - bend * v[:, q], bend
        constant = constant - slope * v[:, q] + 0.5 * bend * v[:, q] ** 2
        size = (
            size + (slope + bend * v[:, q]) * (U[:, q] + v[:, q]) + 0.5 * bend * (U[:, q] ** 2 + v[:, q] ** 2)
        )
    return constant, size
