"""The bound of all designs at once, from nothing but a problem and some prices.

A design is a partition of the attributes into clusters under one combination of groupings, with any split. Of
every combination all partitions are listed again, and each is bounded by whichever of the prices bounds it
best; or, where they are too many to list, all are covered at once. Prices of *need* bound the total that a
partition's floors ask for, and rule out those that need more than there is.

Any prices give a valid bound (`prices`), so nothing that states them is to be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.certificate.box import cap_at_least
from budget_opt.certificate.convex import in_objective_unit
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions.choice import Blocks, Choice, Partition, admissible
from budget_opt.certificate.partitions.covering import attribute_bound, covered
from budget_opt.certificate.partitions.listing import Listing, listed
from budget_opt.certificate.partitions.prices import LinearPrices
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.certificate.partitions.variants import variants
from budget_opt.errors import ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON

MOST_LISTED = 500_000
"""Partitions up to which all are listed."""
MOST_BLOCKS = 20_000
"""Admissible blocks up to which they are covered by prices."""


@dataclass(frozen=True, eq=False)
class PriceRow:
    """One bound of every partition under one combination of groupings, the `variant`-th of `variants`.

    `multipliers` and `shares` (K,) are those of `LinearPrices`, of the question of `need` where that is true;
    `cover` (M,) are prices of attributes for a cover of all partitions.
    """

    variant: int
    need: bool
    multipliers: Multipliers
    shares: FloatArray
    cover: FloatArray


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions under one combination of groupings: all, or their blocks, or neither if too many."""

    choice: Choice
    catalogue: Blocks | None
    listing: Listing | None

    @classmethod
    def of(cls, choice: Choice) -> Partitions:
        """Listed as far as that can be done."""
        blocks = admissible(choice, MOST_BLOCKS)
        if blocks is None:
            return cls(choice, None, None)
        return cls(choice, Blocks.of(choice, blocks), listed(blocks, choice.size, MOST_LISTED))

    @cached_property
    def need(self) -> Partitions:
        """The same partitions, asked for the least total that keeps the floors, whatever the total."""
        choice = needed(self.choice)
        catalogue = None if self.catalogue is None else Blocks.of(choice, self.catalogue.listed)
        return Partitions(choice, catalogue, self.listing)

    @cached_property
    def arrays(self) -> Arrays | None:
        """The arrays of the first partition that can be built: prices take of them what all have alike."""
        for partition in self._partitions():
            try:
                return self.choice.arrays(partition)
            except ProblemError:
                continue
        return None

    def _partitions(self) -> Iterator[Partition]:
        yield self.choice.alone
        if self.listing is not None:
            yield from (self.listing.partition(n) for n in range(self.listing.size))


def needed(choice: Choice) -> Choice:
    """The choice of the same partitions by the least total that keeps the floors."""
    return Choice.of(choice.problem.with_total(LARGEST_EPSILON), choice.max_cells, "min_epsilon")


def proved(problem: Problem, max_cells: int, rows: Sequence[PriceRow]) -> float:
    """What no design of the problem passes, in the objective's unit; its worst value where none is possible.

    Of a weighted sum prices prove nothing, and the bound is the trivial one.
    """
    score, arrays = -math.inf, None
    for number, (variant, _) in enumerate(variants(problem, max_cells)):
        among = Partitions.of(Choice.of(variant, max_cells))
        score = max(score, bounded(among, [row for row in rows if row.variant == number]))
        arrays = among.arrays if arrays is None else arrays
    if arrays is None or score == -math.inf:
        return math.inf if problem.objective in MINIMIZED else 0.0
    return in_objective_unit(arrays, score)


def bounded(among: Partitions, rows: Iterable[PriceRow]) -> float:
    """The bound of the scores of all partitions by some rows."""
    trivial = trivial_bound(among.choice)
    if among.choice.objective == "weighted_sum":
        return trivial
    if among.listing is None:
        return min([trivial, *(_at_once(among, row) for row in rows if not row.need)])
    bounds = np.full(among.listing.size, trivial)
    for row in rows:
        bounds = np.minimum(bounds, of_each(among, row))
    return float(np.max(bounds, initial=-np.inf))


def of_each(among: Partitions, row: PriceRow) -> FloatArray:
    """The bound of the score of every listed partition (N,) by one row; -inf where it has no split."""
    asked = among.need if row.need else among
    arrays = asked.arrays
    assert among.listing is not None
    assert asked.catalogue is not None
    if arrays is None:
        return np.full(among.listing.size, -np.inf)
    with _numbers_of_any_size():
        prices = LinearPrices.of(asked.choice, arrays, row.multipliers, row.shares)
        found = prices.score(among.listing.sums(prices.worth(asked.catalogue)))
    found = np.where(np.isnan(found), np.inf, found)
    if not row.need:
        return found
    total = among.choice.problem.total_epsilon
    most = math.inf if total is None else cap_at_least(exact(total))
    impossible: FloatArray = np.where(-found > most, -np.inf, np.inf)
    return impossible


def _at_once(among: Partitions, row: PriceRow) -> float:
    """The bound of all partitions by one row, by a cover of their blocks or by prices of attributes alone."""
    arrays = among.arrays
    if arrays is None:
        return math.inf
    with _numbers_of_any_size():
        prices = LinearPrices.of(among.choice, arrays, row.multipliers, row.shares)
        if among.catalogue is None:
            worth = attribute_bound(among.choice, prices)
        else:
            worth = covered(among.catalogue, prices.worth(among.catalogue), row.cover)
        score = float(prices.score(np.array([worth]))[0])
    return math.inf if math.isnan(score) else score


def _numbers_of_any_size() -> AbstractContextManager[object]:
    """What is undefined proves nothing, and is no fault of the one who reads."""
    return np.errstate(over="ignore", invalid="ignore")
