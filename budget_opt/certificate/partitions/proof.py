"""The bound of all designs at once, from nothing but a problem and some prices.

A design is a partition of the attributes into clusters under one combination of groupings, with any split. Of
every combination all partitions are listed again, and each is bounded by whichever of the prices bounds it
best; or, where they are too many to list, all are covered at once. Prices of *need* bound the total that a
partition's floors ask for, and rule out those that need more than there is.

Any prices give a valid bound (`prices`), so nothing that states them is to be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from budget_opt.certificate.box import cap_at_least
from budget_opt.certificate.convex import in_objective_unit
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions.choice import Blocks, Choice, admissible
from budget_opt.certificate.partitions.covering import attribute_bound, covered
from budget_opt.certificate.partitions.listing import Listing, listed
from budget_opt.certificate.partitions.prices import LinearPrices
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.certificate.partitions.variants import variants
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON

MOST_LISTED = 500_000
"""Partitions up to which all are listed."""
MOST_BLOCKS = 20_000
"""Admissible blocks up to which they are covered by prices."""
MOST_ROWS = 20_000
"""Rows that a proof has, at most; a hundred for one combination of groupings are many."""
_ROUNDING = 1e-12
"""Relative: far above what the sums of a few hundred epsilons round."""


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
    def arrays(self) -> Arrays:
        """What prices take of arrays, which all partitions have alike: budgets, and numbers of the moments.

        They are those of no clusters, without pins and minima, which may fit no budget alone.
        """
        free = [
            one.with_fields(epsilon=None, epsilon_min=None, distortion_max=None)
            for one in self.choice.problem.attributes
        ]
        problem = self.choice.problem.with_fields(attributes=free, clusters=(), max_cells=None)
        return replace(problem.arrays, objective=self.choice.objective)


def needed(choice: Choice) -> Choice:
    """The choice of the same partitions by the least total that keeps the floors."""
    return Choice.of(choice.problem.with_total(LARGEST_EPSILON), choice.max_cells, "min_epsilon")


def proved(problem: Problem, max_cells: int, rows: Sequence[PriceRow]) -> float:
    """What no design of the problem passes, in the objective's unit; its worst value where none is possible.

    Of a weighted sum prices prove nothing, and the bound is the trivial one.
    """
    scores = []
    for number, (variant, _) in enumerate(variants(problem, max_cells)):
        among = Partitions.of(Choice.of(variant, max_cells))
        scores.append(bounded(among, [row for row in rows if row.variant == number]))
    score = max(scores)
    if score == -math.inf:
        return math.inf if problem.objective in MINIMIZED else 0.0
    return in_objective_unit(among.arrays, score)


def bounded(among: Partitions, rows: Iterable[PriceRow]) -> float:
    """The bound of the scores of all partitions by some rows."""
    trivial = trivial_bound(among.choice)
    if among.choice.objective == "weighted_sum":
        return trivial
    if among.listing is None:
        return min([trivial, *(_at_once(among, row) for row in rows if not row.need)])
    bounds = unpriced(among)
    for row in rows:
        bounds = np.minimum(bounds, of_each(among, row))
    return float(np.max(bounds, initial=-np.inf))


def unpriced(among: Partitions) -> FloatArray:
    """The bound of the score of every listed partition (N,) without prices; -inf where pins fit no budget."""
    assert among.listing is not None
    assert among.catalogue is not None
    blocks = among.catalogue
    bounds = np.full(among.listing.size, trivial_bound(among.choice))
    for paid, (_, _, cap) in zip(blocks.paid.T, among.choice.problem.budgets(), strict=True):
        least = among.listing.sums(np.where(paid, blocks.lower, 0.0)) * (1 - _ROUNDING)
        bounds = np.where(least > cap_at_least(cap), -np.inf, bounds)
    return bounds


def of_each(among: Partitions, row: PriceRow) -> FloatArray:
    """The bound of the score of every listed partition (N,) by one row; -inf where it has no split."""
    assert among.listing is not None
    total = among.choice.problem.total_epsilon
    if row.need and total is None:
        return np.full(among.listing.size, np.inf)
    asked = among.need if row.need else among
    assert asked.catalogue is not None
    with _numbers_of_any_size():
        prices = LinearPrices.of(asked.choice, asked.arrays, row.multipliers, row.shares)
        found = prices.score(among.listing.sums(prices.worth(asked.catalogue)))
    found = np.where(np.isnan(found), np.inf, found)
    if not row.need or total is None:
        return found
    most = cap_at_least(exact(total))
    impossible: FloatArray = np.where(-found > most, -np.inf, np.inf)
    return impossible


def _at_once(among: Partitions, row: PriceRow) -> float:
    """The bound of all partitions by one row, by a cover of their blocks or by prices of attributes alone."""
    with _numbers_of_any_size():
        prices = LinearPrices.of(among.choice, among.arrays, row.multipliers, row.shares)
        if among.catalogue is None:
            worth = attribute_bound(among.choice, prices)
        else:
            worth = covered(among.catalogue, prices.worth(among.catalogue), row.cover)
        score = float(prices.score(np.array([worth]))[0])
    return math.inf if math.isnan(score) else score


def _numbers_of_any_size() -> AbstractContextManager[object]:
    """What is undefined proves nothing, and is no fault of the one who reads."""
    return np.errstate(over="ignore", invalid="ignore")
