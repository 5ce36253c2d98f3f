"""How much of a source y categories cover, for sources whose order is known (class II).

    W(y) = min over the set of P_1 + ... + P_floor(y) + (y - floor(y)) P_(floor(y)+1),   1 <= y <= r

is concave and piecewise linear. It decides everything (`hamming.theorem`): the least distortion is at one of
its corners, and the least epsilon is where a tangent touches it. Codes here are places in the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.mechanisms.hamming.source import Distribution


@dataclass(frozen=True)
class Corner:
    """W at `held` categories, and the distribution that is the worst right of it (at the end: left of it).

    `slope` is that distribution's, the share of its next category; 0 at the end.
    """

    held: Fraction
    share: Fraction
    worst: Distribution
    slope: Fraction


def corners(ordered: Sequence[Distribution]) -> tuple[Corner, ...]:
    """Every place where W may bend, from y = 1 to y = r, for distributions with decreasing shares."""
    found = [corner for first in range(1, len(ordered[0])) for corner in _unit(ordered, first)]
    last = found[-1].worst
    return (*found, Corner(Fraction(len(last)), Fraction(1), last, Fraction(0)))


def _unit(ordered: Sequence[Distribution], first: int) -> Iterator[Corner]:
    """The lower envelope of the lines of all distributions on [first, first + 1), from left to right."""
    lines = [(sum(shares[:first], Fraction(0)), shares[first], shares) for shares in ordered]
    share, slope, worst = min(lines, key=lambda line: line[:2])
    at = Fraction(0)
    while True:
        yield Corner(first + at, share + slope * at, worst, slope)
        # only a flatter line can come below; of those that cross first, the flattest stays below
        crossings = [
            ((start - share) / (slope - flatter), flatter, start, shares)
            for start, flatter, shares in lines
            if flatter < slope
        ]
        at, slope, share, worst = min(
            crossings, key=lambda crossing: crossing[:2], default=(Fraction(1), slope, share, worst)
        )
        if at >= 1:
            return


def weights_at(held: Fraction, cardinality: int) -> tuple[Fraction, ...]:
    """1 for the first floor(`held`) places, the rest of `held` for the next, 0 for the censored."""
    return tuple(min(Fraction(1), max(Fraction(0), held - place)) for place in range(cardinality))


def hardest_at(points: Sequence[Corner], index: int, slope: Fraction) -> Distribution:
    """A mixture of the set under which no y covers more than the tangent at this corner allows.

    `slope` is that of a line through the corner with W below it. The distribution left of the corner is at
    least as steep as the line there; where it is steeper still on the right, it is mixed with the one
    right of the corner, which is not, until the share of the next category is `slope`.
    """
    corner = points[index]
    if index == 0 or index == len(points) - 1:
        return corner.worst
    before, after = points[index - 1].worst, corner.worst
    following = int(corner.held)
    if before[following] <= slope or before[following] == after[following]:
        return before
    weight = (slope - after[following]) / (before[following] - after[following])
    return tuple(weight * a + (1 - weight) * b for a, b in zip(before, after, strict=True))
