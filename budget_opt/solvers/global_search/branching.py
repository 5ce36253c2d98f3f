"""Which attribute to split, and where: the one whose star copies disagree most (GLOBAL_SOLVER 3.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from budget_opt.certificate.boxes.bound import Evaluation, Relaxation, tangents
from budget_opt.certificate.boxes.subgradient import Mixture, Weights
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray

_SHARE, _NESTED_SHARE = 0.55, 0.75
"""Of the copies' mean in lambda above the lower end; where the budget is multiplied twice."""
_EDGE = 0.12
"""No child is narrower than this share of the box."""


class Split(NamedTuple):
    """The attribute (B,), and the epsilon (B,) between its two parts."""

    attribute: IntArray
    at: FloatArray


class _Group(NamedTuple):
    """Copies: what sums them into their attributes, whose they are, what they weigh, and where they stand."""

    to_attribute: csr_array
    attribute: IntArray
    weight: FloatArray
    z: FloatArray


def branching(
    on: Relaxation, found: Evaluation, mixture: Mixture, lower: FloatArray, upper: FloatArray
) -> Split:
    """The splits of boxes [lower, upper] (M, B), by copies that came from the boxes of `on`."""
    own = np.maximum(found.copies.psi.d, 0.0)
    groups = _copies(on, found, mixture)
    total, summed = own.copy(), own * mixture.z
    for group in groups:
        total += group.to_attribute @ group.weight
        summed += group.to_attribute @ (group.weight * group.z)
    mean = np.divide(summed, total, out=mixture.z.copy(), where=total > 0)
    apart = own * np.abs(mixture.z - mean)
    for group in groups:
        apart += group.to_attribute @ (group.weight * np.abs(group.z - mean[group.attribute]))
    # what quadratics and the mixture of two ends hide
    spread = mixture.square - mixture.z**2 + (mixture.z - on.point) ** 2
    apart += 0.5 * found.outer.psi.d2 * np.maximum(spread, 0.0)
    apart += _of_floors(on, found, mixture)
    apart += _of_ceilings(on, found, mixture)
    z_low, z_high = rr.retention(lower, on.r), rr.retention(upper, on.r)
    # multipliers that are not yet good make narrow intervals disagree too; to split wide ones helps more
    score = np.maximum(apart, 0.0) * np.maximum(z_high - z_low, 0.0)
    attribute = np.argmax(score, axis=0)
    # nothing disagrees: the widest box in lambda
    flat = np.max(score, axis=0) <= 0
    attribute = np.where(flat, np.argmax(z_high - z_low, axis=0), attribute)

    def of(values: FloatArray) -> FloatArray:
        taken: FloatArray = np.take_along_axis(values, attribute[None], axis=0)[0]
        return taken

    low, high = of(z_low), of(z_high)
    room = _EDGE * (high - low)
    share = _NESTED_SHARE if np.any(found.multipliers.nested) else _SHARE
    z = np.clip(low + share * (of(mean) - low), low + room, high - room)
    at = rr.epsilon_for_retention(z, on.r[attribute, 0])
    return Split(attribute, np.clip(at, of(lower), of(upper)))


def _of_floors(on: Relaxation, found: Evaluation, mixture: Mixture) -> FloatArray:
    """How far the floors' tangents lie above log lambda."""
    theta = found.outer.theta
    if theta is None:
        return np.zeros_like(on.low)
    floors = tangents(on, on.floors.T @ found.multipliers.kappa)
    above = floors.log_v + (1.0 - theta) * floors.slope * (mixture.e - floors.e_v)
    above += theta * (mixture.z - on.point) / floors.v - np.log(np.maximum(mixture.z, 1e-300))
    gap: FloatArray = np.where(floors.pull > 0, floors.pull * np.maximum(above, 0.0), 0.0)
    return gap


def _of_ceilings(on: Relaxation, found: Evaluation, mixture: Mixture) -> FloatArray:
    """What the ceilings' cuts and chords leave out, at their multipliers."""
    if on.cuts is None:
        return np.zeros_like(on.low)
    used, chords = found.multipliers, slice(-on.ceilings, None)
    cuts = on.cuts.member.T @ (used.capped * on.cuts.gap(mixture.z))
    # a chord charges e - l where log lambda has risen as over a longer way
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.log(on.high / on.low)
        way = (on.most - on.least) * np.log(mixture.z / on.low) / rise - (mixture.e - on.least)
    way = np.where(np.isfinite(way), np.maximum(way, 0.0), 0.0)
    price = used.mu[chords] + np.sum(used.nu[chords] * (mixture.z - on.low), axis=1)
    gap: FloatArray = cuts + way * np.sum(on.rows.coefficient[chords] * price[:, None], axis=0)
    return gap


def _copies(on: Relaxation, found: Evaluation, mixture: Mixture) -> list[_Group]:
    """The copies of an attribute under another, and under an ordered pair."""
    layout, copies = on.layout, found.copies
    away, pull = (mixture.z - on.low)[layout.centre], copies.sums.w
    if copies.nested is None or layout.triples is None:
        return [_Group(layout.pairs_to_other, layout.other, pull * away, copies.plain.z)]
    weights = Weights.of(on, found, mixture)
    pull = pull.copy()
    pull[: layout.nested] += copies.nested.pull
    z = np.divide(weights.z, away, out=mixture.z[layout.other], where=away > 0)
    triples = layout.triples
    third = copies.sums.third * weights.away[triples.pair]
    return [
        _Group(layout.pairs_to_other, layout.other, np.maximum(pull, 0.0) * away, z),
        _Group(triples.to_last, triples.last, third, copies.nested.third.z),
    ]
