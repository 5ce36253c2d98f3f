"""The subgradient of the bound at the mixture of outer argmax vectors that spends the first row exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.arcs import Arcs
from budget_opt.certificate.boxes.bound import Evaluation, Multipliers, Relaxation, tangents
from budget_opt.certificate.boxes.layout import DegreeLayout
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray


@dataclass(frozen=True)
class Mixture:
    """Means over the two ends of z, z^2, e, and (z - L) e; (M, B)."""

    z: FloatArray
    square: FloatArray
    e: FloatArray
    product: FloatArray

    @classmethod
    def of(cls, on: Relaxation, found: Evaluation) -> Mixture:
        """The relaxed point of an evaluation."""
        share, z = found.outer.on, found.outer.point
        e = rr.epsilon_for_retention(z, on.r)
        off = 1.0 - share
        return cls(
            off * on.low + share * z,
            off * on.low**2 + share * z**2,
            off * on.least + share * e,
            share * (z - on.low) * e,
        )


def subgradient(on: Relaxation, found: Evaluation, mixture: Mixture) -> Multipliers:
    """The derivative of the bound by every multiplier; by the first row's mu it is nearly 0."""
    shares = tuple(
        _of_shares(on, degree, arcs, found, mixture)
        for degree, arcs in zip(on.layout.degrees, on.arcs, strict=True)
    )
    mu = on.rows.limit - np.sum(on.rows.coefficient * mixture.e, axis=1)
    return Multipliers(shares, _of_nu(on, found, mixture), mu, _of_kappa(on, found, mixture))


def _of_shares(
    on: Relaxation, degree: DegreeLayout, arcs: Arcs, found: Evaluation, mixture: Mixture
) -> FloatArray:
    """What each arc contributes at the argmax, (T, d n + 1, B)."""
    z, square = mixture.z[degree.members], mixture.square[degree.members]
    inner = found.inner.z[degree.pair]
    away = z - arcs.low
    size, count = degree.degree, on.count
    gradient = np.empty((degree.weight.size, degree.arcs, count))
    stars = gradient[:, :-1].reshape(degree.weight.size, size, degree.stars, count)
    for centre in range(size):
        others = [q for q in range(size) if q != centre]
        near, far, base = away[:, centre], z[:, others], arcs.low[:, centre]
        own = inner[:, centre]
        if arcs.stars is None:
            stars[:, centre, 0] = near * own[:, 0] + base * far[:, 0]
            continue
        joint = near[:, None] * own + base[:, None] * far
        linear = arcs.stars.linear[:, centre]
        stars[:, centre] = arcs.stars.constant[:, centre] * z[:, centre, None]
        stars[:, centre] += np.einsum("tnqb,tqb->tnb", linear, joint)
        bent = near[:, None] * own**2 + base[:, None] * square[:, others]
        stars[:, centre, -1] += 0.5 * np.sum(arcs.stars.bend[:, centre] * bent, axis=1)
    gradient[:, -1] = arcs.constant + np.sum(arcs.linear * z + 0.5 * arcs.bend * square, axis=1)
    return gradient


def _of_nu(on: Relaxation, found: Evaluation, mixture: Mixture) -> FloatArray:
    """(R, M, B): P_i (beta_r - sum_{j != i} b_rj e_ij) - b_ri Q_i."""
    layout = on.layout
    away = mixture.z - on.low
    gradient = []
    for row, limit in zip(on.rows.coefficient, on.rows.limit, strict=True):
        more = found.inner.more if on.rows.plain else row[layout.other] * found.inner.more
        spent = np.sum(row * on.least, axis=0) - row * on.least + layout.pairs_to_centre @ more
        gradient.append(away * (limit - spent) - row * mixture.product)
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
