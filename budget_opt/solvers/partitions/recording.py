"""The prices that a search leaves behind as a proof: few, and enough for the bound of all partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from budget_opt.certificate.partitions.choice import Choice
from budget_opt.certificate.partitions.prices import LinearPrices, shares_at
from budget_opt.certificate.partitions.proof import (
    MOST_ROWS,
    Partitions,
    PriceRow,
    bounded,
    of_each,
    unpriced,
)
from budget_opt.certificate.partitions.variants import MOST_GROUPINGS
from budget_opt.errors import BudgetOptError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_inflations
from budget_opt.model.values import LARGEST_EPSILON
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.convex_method import ImpossibleError
from budget_opt.solvers.partitions.covering import cover
from budget_opt.solvers.table import solve

_GAP = 1e-7
"""Relative, of a split whose prices are asked for."""
_SAME = 1e-9
"""Relative: what is above the search's bound by its digits alone is not lowered."""


def recorded(choice: Choice, variant: int, prices: Sequence[LinearPrices], bound: float) -> list[PriceRow]:
    """Rows that prove the `bound` of the scores of all partitions, or the least that they can.

    `prices` are those of a search of the `variant`-th combination of groupings. For a partition that they
    leave above the bound others are found: those of its need, of floors that its groups do not allow, or of
    its own split.
    """
    among = Partitions.of(choice)
    if among.listing is None:
        return _best(among, variant, prices)
    return _Selection(among, variant, prices, bound).run()


def _best(among: Partitions, variant: int, prices: Sequence[LinearPrices]) -> list[PriceRow]:
    """The one row whose cover is least."""
    rows = [_row(among, variant, one) for one in prices]
    return [min(rows, key=lambda row: bounded(among, [row]))] if rows else []


@dataclass(eq=False)
class _Selection:
    """Rows, each for the partition whose bound was the highest before."""

    among: Partitions
    variant: int
    prices: Sequence[LinearPrices]
    bound: float
    rows: list[PriceRow] = field(default_factory=list)

    def run(self) -> list[PriceRow]:
        """Until no bound is above the search's, the highest cannot be lowered, or there are too many."""
        assert self.among.listing is not None
        bounds = unpriced(self.among)
        enough = self.bound + (_SAME * (1.0 + abs(self.bound)) if math.isfinite(self.bound) else 0.0)
        while bounds.size and len(self.rows) < MOST_ROWS // MOST_GROUPINGS:
            n = int(np.argmax(bounds))
            found = None if bounds[n] <= enough else self._lowered(bounds, n)
            if found is None:
                break
            row, bounds = found
            self.rows.append(row)
        return self.rows

    def _lowered(self, bounds: FloatArray, n: int) -> tuple[PriceRow, FloatArray] | None:
        """A row that lowers the n-th bound, and all bounds (N,) with it; None where there is none."""
        for propose in (self._lowest, self._need, self._conflict, self._own):
            row = propose(n)
            if row is not None:
                lowered = np.minimum(bounds, of_each(self.among, row))
                if lowered[n] < bounds[n]:
                    return row, lowered
        return None

    def _lowest(self, n: int) -> PriceRow | None:
        """The prices that bound the n-th partition best."""
        assert self.among.listing is not None
        inside = self.among.listing.rows[n]
        sums = [np.sum(worth[inside[inside >= 0]], keepdims=True) for worth in self._worths]
        scores = [float(one.score(total)[0]) for one, total in zip(self.prices, sums, strict=True)]
        best = min(range(len(scores)), key=scores.__getitem__, default=None)
        return None if best is None else _row(self.among, self.variant, self.prices[best])

    @cached_property
    def _worths(self) -> list[FloatArray]:
        """What every block adds at most by each of the prices, (n,)."""
        assert self.among.catalogue is not None
        return [one.worth(self.among.catalogue) for one in self.prices]

    def _need(self, n: int) -> PriceRow | None:
        """Prices of the least total that the n-th partition needs; None where there is no total."""
        if self.among.choice.problem.total_epsilon is None:
            return None
        return self._solved(self.among.need, n, need=True)

    def _conflict(self, n: int) -> PriceRow | None:
        """Prices of floors that no total meets within the groups; None where all can be met.

        Multipliers of the largest t with R_k >= t floor_k say so where t < 1. They are scaled to what one
        epsilon of the total costs, or as far as is needed where it is no matter of the total. Without a
        total the sum of epsilons is the objective, and the bound of that.
        """
        total = self.among.choice.problem.total_epsilon
        try:
            arrays = self._arrays(self.among, n)
            floors = np.isfinite(arrays.log_floor)
            if not np.any(floors):
                return None
            asked = replace(
                arrays,
                objective="max_min",
                weight=floors.astype(np.float64),
                target=np.where(floors, np.exp(arrays.log_floor), 1.0),
                log_floor=np.full(arrays.moments, -np.inf),
                log_ceiling=np.zeros(arrays.moments),
                upper=np.minimum(arrays.upper, LARGEST_EPSILON),
            )
            found = solve(asked, Settings(_GAP, explanation_limit=0.0)).certificate
        except (BudgetOptError, ImpossibleError):
            return None
        if found.multipliers is None or not 0 < found.bound < 1:
            return None
        clean = found.multipliers.sanitized(asked)
        need = total is not None
        least = 1.0 + abs(self.bound) if total is None else total
        budgets, price = clean.budgets.copy(), 0.0
        if need:
            price, budgets[0] = float(budgets[0]), 0.0  # what the total costs is what need is about
        scale = min(1.0 / price if price > 0 else math.inf, 2.0 * least / -math.log(found.bound))
        stated = replace(
            clean, floors=scale * clean.moments, moments=0.0 * clean.moments, budgets=scale * budgets
        )
        of = self.among.need if need else self.among
        return _row(of, self.variant, LinearPrices.of(of.choice, of.arrays, stated), need=need)

    def _own(self, n: int) -> PriceRow | None:
        """Prices by the split of the n-th partition itself."""
        return self._solved(self.among, n)

    def _solved(self, asked: Partitions, n: int, *, need: bool = False) -> PriceRow | None:
        """Prices by the split of the n-th partition; None where it has none."""
        choice = asked.choice
        try:
            arrays = self._arrays(asked, n)
            found = solve(arrays, Settings(_GAP, explanation_limit=0.0))
        except (BudgetOptError, ImpossibleError):
            return None
        multipliers, shares = found.certificate.multipliers, None
        if multipliers is None:
            return None
        if choice.objective == "min_variance":
            shares = shares_at(arrays, log_inflations(arrays, found.epsilon))
        return _row(asked, self.variant, LinearPrices.of(choice, arrays, multipliers, shares), need=need)

    @staticmethod
    def _arrays(asked: Partitions, n: int) -> Arrays:
        """Those of the n-th partition, whose upper bounds are not cut by the lower bounds of others.

        Only a price of the budget can say what that cuts off. Raises `ProblemError` as `Choice.arrays`.
        """
        assert asked.listing is not None
        assert asked.catalogue is not None
        inside = asked.listing.rows[n]
        arrays = asked.choice.arrays(asked.listing.partition(n))
        upper = np.minimum(arrays.stated_upper, asked.catalogue.upper[inside[inside >= 0]])
        return replace(arrays, upper=upper)


def _row(among: Partitions, variant: int, prices: LinearPrices, *, need: bool = False) -> PriceRow:
    pi = np.zeros(among.choice.size)
    if among.listing is None and among.catalogue is not None:
        worth = prices.worth(among.catalogue)
        if np.all(np.isfinite(worth)):
            pi = cover(among.catalogue, worth)
    return PriceRow(variant, need, prices.multipliers, prices.shares, pi)
