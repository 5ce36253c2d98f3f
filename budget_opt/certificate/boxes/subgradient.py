"""The subgradient of the bound at the mixture of outer argmax vectors that spends the first row exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.arcs import Arcs, Stars
from budget_opt.certificate.boxes.bound import Evaluation, tangents
from budget_opt.certificate.boxes.layout import DegreeLayout
from budget_opt.certificate.boxes.relaxation import Multipliers, Relaxation
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class Mixture:
    """Means over the two ends of z, z^2, e, and (z - L) e; (M, B).

    `above` (2, M, B) splits z - L between the two ends of the chord in e.
    """

    z: FloatArray
    square: FloatArray
    e: FloatArray
    product: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, on: Relaxation, found: Evaluation) -> Mixture:
        """The relaxed point of an evaluation."""
        share, z = found.outer.on, found.outer.point
        e = rr.epsilon_for_retention(z, on.r)
        off = 1.0 - share
        width = on.most - on.least
        part = np.divide(e - on.least, width, out=np.zeros_like(e), where=width > 0)
        away = share * (z - on.low)
        return cls(
            off * on.low + share * z,
            off * on.low**2 + share * z**2,
            off * on.least + share * e,
            away * e,
            np.stack([away * (1.0 - part), away * part]),
        )


@dataclass(frozen=True)
class Weights:
    """What the copies of an attribute weigh in the bound's derivatives.

    With the copy of j under i, `z` and `more` (P, B) are z_i - L_i times z_j, and times e_j - e(L_j);
    `square` (N, B) the same times z_j^2, and `away` (N, B) times z_j - L_j; `paid` (2, N, B) is that times
    e_i - e(L_i), and times e_j - e(L_j).
    """

    z: FloatArray
    more: FloatArray
    square: FloatArray
    away: FloatArray
    paid: FloatArray

    @classmethod
    def of(cls, on: Relaxation, found: Evaluation, mixture: Mixture) -> Weights:
        """The copies of an evaluation."""
        layout, copies = on.layout, found.copies
        many = layout.nested
        near = np.sum(mixture.above, axis=0)[layout.centre[many:]]
        z, more = near * copies.plain.z, near * copies.plain.more
        if copies.nested is None:
            none = np.zeros((0, on.count))
            return cls(z, more, none, none, none)
        i, j = layout.centre[:many], layout.other[:many]
        second, above = copies.nested.second, mixture.above[:, i]
        if len(second.z) == 1:
            above = np.sum(above, axis=0, keepdims=True)
        away = above * (second.z - on.low[j])
        paid = np.stack([away[-1] * (on.most[i] - on.least[i]), np.sum(away * second.more, axis=0)])
        return cls(
            np.concatenate([np.sum(above * second.z, axis=0), z]),
            np.concatenate([np.sum(above * second.more, axis=0), more]),
            np.sum(above * second.z**2, axis=0),
            np.sum(away, axis=0),
            paid,
        )


def subgradient(on: Relaxation, found: Evaluation, mixture: Mixture) -> Multipliers:
    """The derivative of the bound by every multiplier; by the first row's mu it is nearly 0."""
    weights = Weights.of(on, found, mixture)
    products = _of_products(on, found, mixture, weights)
    shares = tuple(
        _of_shares(degree, arcs, mixture, weights, products)
        for degree, arcs in zip(on.layout.degrees, on.arcs, strict=True)
    )
    mu = on.rows.limit - np.sum(on.rows.coefficient * mixture.e, axis=1)
    return Multipliers(
        shares,
        _of_nu(on, mixture, weights),
        _of_nested(on, found, weights),
        mu,
        _of_kappa(on, found, mixture),
        np.zeros((0, on.count)) if on.cuts is None else on.cuts.spare(mixture.z),
    )


def _of_products(
    on: Relaxation, found: Evaluation, mixture: Mixture, weights: Weights
) -> tuple[FloatArray, FloatArray]:
    """The derivatives by the constants of C_ij (N, B), and by W3 (Q, B): the products of the copies."""
    nested, triples, many = found.copies.nested, on.layout.triples, on.layout.nested
    if nested is None or triples is None:
        none = np.zeros((0, on.count))
        return none, none
    i, j = on.layout.centre[:many], on.layout.other[:many]
    low_i, low_j = on.low[i], on.low[j]
    away = np.sum(mixture.above, axis=0)
    flat = weights.away + low_j * away[i] + low_i * away[j] + low_i * low_j
    third = weights.away[triples.pair] * nested.third.z
    third += low_j[triples.pair] * weights.z[triples.near]
    third += low_i[triples.pair] * weights.z[triples.far]
    third += (low_i * low_j)[triples.pair] * mixture.z[triples.last]
    return flat, third


def _of_shares(
    degree: DegreeLayout,
    arcs: Arcs,
    mixture: Mixture,
    weights: Weights,
    products: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """What each arc contributes at the argmax, (T, arcs, B)."""
    z, square = mixture.z[degree.members], mixture.square[degree.members]
    flat, third = products
    gradient = np.empty((degree.weight.size, degree.arcs, z.shape[-1]))
    gradient[:, -1] = arcs.constant + np.sum(arcs.linear * z + 0.5 * arcs.bend * square, axis=1)
    if degree.nesting is None:
        gradient[:, :-1] = weights.z[degree.pair[:, :, 0]] + arcs.low * z[:, ::-1]
    elif arcs.facets is None:
        gradient[:, : degree.nested] = third[degree.nesting.triple[:, :, 0]]
    else:
        by_facet = arcs.facets.constant * flat[degree.nesting.pair]
        for place in range(degree.degree - 2):
            by_facet += arcs.facets.slope[:, :, place] * third[degree.nesting.triple[:, :, place]]
        gradient[:, : degree.nested] = by_facet
    if arcs.stars is not None:
        gradient[:, degree.nested : -1] = _of_stars(degree, arcs, arcs.stars, (z, square), weights)
    return gradient


def _of_stars(
    degree: DegreeLayout, arcs: Arcs, stars: Stars, at: tuple[FloatArray, FloatArray], weights: Weights
) -> FloatArray:
    """What each quadratic star contributes, (T, d, B)."""
    z, square = at
    gradient = stars.constant * z
    for centre in range(degree.degree):
        others = [q for q in range(degree.degree) if q != centre]
        pair, low = degree.pair[:, centre], arcs.low[:, centre, None]
        terms = stars.linear[:, centre] * (weights.z[pair] + low * z[:, others])
        terms += 0.5 * stars.bend[:, centre] * (weights.square[pair] + low * square[:, others])
        gradient[:, centre] += np.sum(terms, axis=1)
    return gradient


def _of_nu(on: Relaxation, mixture: Mixture, weights: Weights) -> FloatArray:
    """(R, M, B): P_i (beta_r - sum_{j != i} b_rj e_ij) - b_ri Q_i."""
    layout = on.layout
    away = np.sum(mixture.above, axis=0)
    gradient = []
    for row, limit in zip(on.rows.coefficient, on.rows.limit, strict=True):
        more = weights.more if on.rows.plain else row[layout.other] * weights.more
        spare = limit - np.sum(row * on.least, axis=0) + row * on.least
        gradient.append(away * spare - layout.pairs_to_centre @ more - row * mixture.product)
    return np.array(gradient)


def _of_nested(on: Relaxation, found: Evaluation, weights: Weights) -> FloatArray:
    """(R, N, B): the same, with (z_i - L_i)(z_j - L_j) in place of z_i - L_i."""
    nested, triples, many = found.copies.nested, on.layout.triples, on.layout.nested
    if nested is None or triples is None or not np.any(found.multipliers.nested):
        return np.zeros_like(found.multipliers.nested)
    i, j = on.layout.centre[:many], on.layout.other[:many]
    gradient = []
    for row, limit in zip(on.rows.coefficient, on.rows.limit, strict=True):
        more = nested.third.more if on.rows.plain else row[triples.last] * nested.third.more
        spare = limit - np.sum(row * on.least, axis=0) - triples.to_pair @ more
        gradient.append(weights.away * spare - row[i] * weights.paid[0] - row[j] * weights.paid[1])
    return np.array(gradient)


def _of_kappa(on: Relaxation, found: Evaluation, mixture: Mixture) -> FloatArray:
    if not on.log_floor.size or found.outer.theta is None:
        return np.zeros((0, on.count))
    floors = tangents(on, np.zeros_like(on.low))
    theta = found.outer.theta
    logs = floors.log_v + (1.0 - theta) * floors.slope * (mixture.e - floors.e_v)
    logs += theta * (mixture.z - on.point) / floors.v
    gradient: FloatArray = on.floors @ logs - on.log_floor[:, None]
    return gradient
