"""The best weights of `matrix_of` for a source of each class, and the distribution that proves them.

After Kalantari, Sankar and Sarwate (2018). Classes I and II in exact fractions; class III from a linear
program whose numbers are made exact, so that the weights are valid and the proof is one, both within a hair
of the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.mechanisms.hamming import program
from budget_opt.mechanisms.hamming.cover import Corner, corners, hardest_at, weights_at
from budget_opt.mechanisms.hamming.source import Distribution, Source
from budget_opt.mechanisms.hamming.theorem import (
    best_corner,
    distortion_is_at_least,
    ratio_is_at_least,
    symmetric_ratio,
    tangent,
)

_HAIR = Fraction(1, 2**40)


@dataclass(frozen=True)
class Best:
    """Weights in 0..1, the likelihood ratio they are for, and a distribution of the hull that bounds both."""

    weights: tuple[Fraction, ...]
    ratio: Fraction
    hardest: Distribution


def for_distortion(source: Source, distortion: Fraction) -> Best | None:
    """The least ratio for this share of changed cells, in 0..1; None where no finite one does."""
    if source.source_class == "I":
        size = source.cardinality
        return None if distortion == 0 else _symmetric(size, symmetric_ratio(distortion, size))
    if source.order is not None:
        return _ordered_for_distortion(source.order, points_of(source, source.order), 1 - distortion)
    return _general_for_distortion(source, 1 - distortion)


def for_ratio(source: Source, ratio: Fraction) -> Best:
    """The weights with the fewest changed cells at this ratio, >= 1."""
    if source.source_class == "I":
        return _symmetric(source.cardinality, ratio)
    if source.order is not None:
        points = points_of(source, source.order)
        return _ordered(source.order, points, best_corner(points, ratio), ratio)
    return _general_for_ratio(source, ratio)


def points_of(source: Source, order: Sequence[int]) -> tuple[Corner, ...]:
    """The corners of the covered share, for a source with this order."""
    return corners([tuple(shares[code] for code in order) for shares in source.vertices])


def _symmetric(size: int, ratio: Fraction) -> Best:
    return Best((Fraction(1),) * size, ratio, (Fraction(1, size),) * size)


def _ordered_for_distortion(
    order: Sequence[int], points: Sequence[Corner], unchanged: Fraction
) -> Best | None:
    index = tangent(points, unchanged)
    if index is None:
        return None
    if index == 0:
        return _ordered(order, points, 0, Fraction(1))
    slope = (points[index].share - unchanged) / (points[index].held - 1)
    return _ordered(order, points, index, unchanged / slope)


def _ordered(order: Sequence[int], points: Sequence[Corner], index: int, ratio: Fraction) -> Best:
    held, share = points[index].held, points[index].share
    # the tangent through this corner starts at the unchanged share that `ratio` gives there
    slope = share / (ratio + held - 1)
    hardest = _below(ratio * slope, hardest_at(points, index, slope), points[0].worst)
    return Best(_by_code(order, weights_at(held, len(order))), ratio, _by_code(order, hardest))


def _by_code(order: Sequence[int], by_place: Sequence[Fraction]) -> tuple[Fraction, ...]:
    placed = dict(zip(order, by_place, strict=True))
    return tuple(placed[code] for code in range(len(order)))


def _general_for_ratio(source: Source, ratio: Fraction) -> Best:
    proposal, blind = program.for_ratio(source, ratio), program.for_constant(source)
    weights = max(_with_all(source, proposal), key=lambda ways: _unchanged(source, ways, ratio))
    # at large ratios, where a solver's tolerance is wider than what is left to change, the flattest proves it
    hardest = (*proposal.hardest, *blind.hardest)
    return Best(weights, ratio, max(hardest, key=lambda p: distortion_is_at_least(p, ratio)))


def _general_for_distortion(source: Source, unchanged: Fraction) -> Best | None:
    blind = program.for_constant(source)
    constant = max(blind.weights, key=lambda ways: _unchanged(source, ways, Fraction(1)))
    if _unchanged(source, constant, Fraction(1)) >= unchanged:
        return Best(constant, Fraction(1), blind.hardest[0])
    if unchanged == 1:
        return None
    proposal = program.for_unchanged(source, unchanged)
    rated = [(_ratio(source, ways, unchanged), ways) for ways in _with_all(source, proposal)]
    ratio, weights = min((ratio, ways) for ratio, ways in rated if ratio is not None)
    flat = blind.hardest[-1]
    hardest = [flat, *(_below(unchanged, p, flat) for p in proposal.hardest)]
    return Best(weights, ratio, max(hardest, key=lambda p: ratio_is_at_least(p, 1 - unchanged) or ratio))


def _with_all(source: Source, proposal: program.Proposal) -> tuple[tuple[Fraction, ...], ...]:
    """The proposed weights, and those of the symmetric matrix, which is the best at small distortions."""
    return (*proposal.weights, (Fraction(1),) * source.cardinality)


def _below(share: Fraction, hardest: Distribution, flat: Distribution) -> Distribution:
    """`hardest` with as little of `flat` as takes all its shares below `share`, if those of `flat` are.

    A largest share that rounding lifts to the unchanged one would prove nothing: its category alone would do.
    """
    if max(flat) >= share:
        return hardest
    most = share - (share - max(flat)) * _HAIR
    needed = max(
        ((p - most) / (p - low) for p, low in zip(hardest, flat, strict=True) if p > most),
        default=Fraction(0),
    )
    return tuple((1 - needed) * p + needed * low for p, low in zip(hardest, flat, strict=True))


def _unchanged(source: Source, weights: Sequence[Fraction], ratio: Fraction) -> Fraction:
    return ratio * source.least_mean(weights) / (ratio + sum(weights) - 1)


def _ratio(source: Source, weights: Sequence[Fraction], unchanged: Fraction) -> Fraction | None:
    """The ratio at which these weights leave exactly this share unchanged; None where none does."""
    above = source.least_mean(weights) - unchanged
    return max(Fraction(1), unchanged * (sum(weights) - 1) / above) if above > 0 else None
