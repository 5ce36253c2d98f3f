"""What is known about the distribution of an attribute: a set of distributions (Kalantari et al. 2018).

A set enters every worst case through its convex hull only, so it is kept as the extreme points of a polytope,
in exact fractions. Three classes (the paper's):

- I: the hull contains the uniform distribution; knowing the set is then worth nothing;
- II: every distribution of the set has the same known order of its probabilities;
- III: everything else.

The whole ordered simplex P_1 >= ... >= P_r contains the uniform distribution, hence is of class I: an order
alone is worth nothing, an order with a bound on how flat the distribution may be is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Literal, Self

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming.hull import contains_uniform

Number = float | Fraction
Distribution = tuple[Fraction, ...]
SourceClass = Literal["I", "II", "III"]

SLACK = Fraction(1, 10**9)
"""A distribution whose decimals miss one by no more is divided by their sum; by more, it is refused."""
MOST_IN_BETWEEN = 14
"""Categories up to which the extreme points of `Source.between` are listed: r 2^(r-1) of them at most."""


def fraction_of(number: Number) -> Fraction:
    """A fraction as it is, and another finite number as the decimal of its double's text (DESIGN 2.7).

    Raises InputError for anything else.
    """
    if isinstance(number, Fraction):
        return number
    try:
        return exact(number)
    except (TypeError, ValueError, OverflowError):  # no number, NaN, infinity
        raise InputError(f"number: is {number!r}, must be finite. Give a float or a Fraction") from None


@dataclass(frozen=True, repr=False)
class Source:
    """A set of distributions over r >= 2 categories: the hull of `vertices`, each summing exactly to one.

    Built by `of`, `anything`, `ordered` and `between`. Raises InputError.
    """

    vertices: tuple[Distribution, ...]

    def __repr__(self) -> str:
        extreme = (
            "1 distribution" if len(self.vertices) == 1 else f"{len(self.vertices):,} extreme distributions"
        )
        return f"<Source: class {self.source_class}, {self.cardinality} categories, {extreme}>"

    def __str__(self) -> str:
        return repr(self)[len("<Source: ") : -1]

    def __post_init__(self) -> None:
        if not self.vertices:
            raise InputError("source: has no distribution; state at least one")
        sizes = {len(vertex) for vertex in self.vertices}
        if len(sizes) > 1 or min(sizes) < 2:
            raise InputError(
                f"source: its distributions have {sorted(sizes)} categories; all need the same number, >= 2"
            )
        if any(sum(vertex) != 1 or min(vertex) < 0 for vertex in self.vertices):
            raise InputError("source: a distribution has a negative share, or its shares do not sum to one")

    @classmethod
    def of(cls, distributions: Sequence[Sequence[Number]]) -> Self:
        """The hull of the listed distributions, or one alone; floats are read as decimals."""
        return cls(tuple(dict.fromkeys(_distribution(shares) for shares in distributions)))

    @classmethod
    def anything(cls, cardinality: int) -> Self:
        """All distributions over this number of categories: nothing is known."""
        return cls(tuple(_even(cardinality, (k,)) for k in range(cardinality)))

    @classmethod
    def ordered(cls, cardinality: int, *, first_at_least: Number = 0) -> Self:
        """P_1 >= P_2 >= ... >= P_r and P_1 >= `first_at_least`, in 0..1; at most 1 / r gains nothing.

        Without the bound its extreme points are the uniform distributions on the first k categories; the
        bound cuts the edges between those.
        """
        least = fraction_of(first_at_least)
        if not 0 <= least <= 1:
            raise InputError(f"first_at_least: is {first_at_least!r}, must be a probability in 0..1")
        corners = [_even(cardinality, range(k)) for k in range(1, cardinality + 1)]
        inside = [corner for corner in corners if corner[0] >= least]
        outside = [corner for corner in corners if corner[0] < least]
        crossed = [_between_at(high, low, least) for high in inside for low in outside]
        return cls(tuple(dict.fromkeys([*inside, *crossed])))

    @classmethod
    def between(cls, lower: Sequence[Number], upper: Sequence[Number]) -> Self:
        """All distributions with lower_i <= P_i <= upper_i, as intervals of confidence give them.

        At most 14 categories. Limits below 0 or above 1 mean 0 and 1. Raises InputError where there is no
        such distribution.
        """
        low = [max(Fraction(0), fraction_of(x)) for x in lower]
        high = [min(Fraction(1), fraction_of(x)) for x in upper]
        if len(low) != len(high) or not 2 <= len(low) <= MOST_IN_BETWEEN:
            raise InputError(
                f"between: has {len(low)} lower and {len(high)} upper limits; needs one of each for every "
                f"category, for 2 to {MOST_IN_BETWEEN} categories"
            )
        for code, (least, most) in enumerate(zip(low, high, strict=True)):
            if least > most:
                raise InputError(
                    f"between: category {code} has the lower limit {float(least):.6g} above the upper one, "
                    f"{float(most):.6g}. State the lower one first"
                )
        found = tuple(dict.fromkeys(_corners(low, high)))
        if not found:
            raise InputError(
                f"between: the limits leave no distribution; the lower ones sum to {float(sum(low)):.6g}, "
                f"the upper ones to {float(sum(high)):.6g}, and one must lie between"
            )
        return cls(found)

    @property
    def cardinality(self) -> int:
        """The number r of categories."""
        return len(self.vertices[0])

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """Codes from the most to the least probable, if all distributions agree on it, else None."""
        # if i may stand before j then every vertex has v_i >= v_j, so the sorted tuples are in that order
        shares = list(zip(*self.vertices, strict=True))
        codes = sorted(range(self.cardinality), key=lambda code: shares[code], reverse=True)
        agreed = all(
            vertex[before] >= vertex[after] for vertex in self.vertices for before, after in pairwise(codes)
        )
        return tuple(codes) if agreed else None

    @cached_property
    def source_class(self) -> SourceClass:
        """I where the hull contains the uniform distribution, II where the order is known, III elsewhere."""
        if contains_uniform(self.vertices):
            return "I"
        return "III" if self.order is None else "II"

    def least_mean(self, weights: Sequence[Fraction]) -> Fraction:
        """The least of sum p_i weights_i over the set: it is attained in a vertex."""
        return min(
            sum((share * weight for share, weight in zip(vertex, weights, strict=True)), Fraction(0))
            for vertex in self.vertices
        )


def _distribution(shares: Sequence[Number]) -> Distribution:
    numbers = [fraction_of(share) for share in shares]
    total = sum(numbers, Fraction(0))
    if abs(total - 1) > SLACK:
        raise InputError(f"source: the shares of a distribution sum to {float(total):.10g}, must sum to one")
    return tuple(number / total for number in numbers)


def _even(cardinality: int, codes: Sequence[int]) -> Distribution:
    share = Fraction(1, len(codes))
    return tuple(share if code in codes else Fraction(0) for code in range(cardinality))


def _between_at(high: Distribution, low: Distribution, first: Fraction) -> Distribution:
    """The point of the edge from `high` to `low` at which the first share is `first`."""
    weight = (first - low[0]) / (high[0] - low[0])
    return tuple(weight * a + (1 - weight) * b for a, b in zip(high, low, strict=True))


def _corners(low: Sequence[Fraction], high: Sequence[Fraction]) -> Iterator[Distribution]:
    """Points of the box that sum to one, with all but one share at a limit."""
    for free in range(len(low)):
        others = [(a, b) for i, (a, b) in enumerate(zip(low, high, strict=True)) if i != free]
        for chosen in product(*others):
            share = 1 - sum(chosen, Fraction(0))
            if low[free] <= share <= high[free]:
                yield (*chosen[:free], share, *chosen[free:])
