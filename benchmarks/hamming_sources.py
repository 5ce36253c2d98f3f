"""Sources for `hamming.py`: shares as a statistical office publishes them, and how far they may be off.

The example sets of Kalantari, Sankar and Sarwate (2018) are missing from our copy of the paper; these stand
in for them. Class I: nothing is known. Class II: published shares, each off by a stated part of itself at
most, so that the order is certain. Class III: two categories may have changed places.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from budget_opt.mechanisms.hamming import Source

PUBLISHED = {
    6: ((40, 25, 15, 10, 6, 4), Fraction(1, 5)),
    10: ((290, 200, 140, 100, 80, 60, 48, 38, 27, 17), Fraction(1, 10)),
}
"""For each M the published shares (over their sum), and the largest relative error."""
_FLATTER, _SURER = Fraction(1, 100), Fraction(1, 5)


def known_order(cardinality: int) -> Source:
    """Class II: the published shares with their errors; they do not overlap."""
    return _off_by(*_published(cardinality))


def pieces(cardinality: int) -> tuple[Source, Source]:
    """Class III in two pieces: as published, or with the places 2 and 5 exchanged and a little flatter.

    The second piece knows its shares five times better, so that folding leaves a gap between its bounds.
    """
    shares, error = _published(cardinality)
    flatter = [(1 - _FLATTER) * share + _FLATTER / cardinality for share in _exchanged(shares)]
    return _off_by(shares, error), _off_by(flatter, error * _SURER)


def mirrored(cardinality: int) -> tuple[Source, Source]:
    """Class III in two pieces that fold onto one another: the bounds are tight."""
    shares, error = _published(cardinality)
    return _off_by(shares, error), _off_by(_exchanged(shares), error)


def _exchanged(shares: Sequence[Fraction]) -> list[Fraction]:
    first, second, third, fourth, fifth, *rest = shares
    return [first, fifth, third, fourth, second, *rest]


def _published(cardinality: int) -> tuple[list[Fraction], Fraction]:
    numbers, error = PUBLISHED[cardinality]
    return [Fraction(number, sum(numbers)) for number in numbers], error


def _off_by(shares: Sequence[Fraction], error: Fraction) -> Source:
    return Source.between(
        [share * (1 - error) for share in shares], [share * (1 + error) for share in shares]
    )
