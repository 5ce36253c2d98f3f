"""The prices that a search leaves behind as a proof: few, and enough for the bound of all partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from budget_opt.certificate.partitions.choice import Choice
from budget_opt.certificate.partitions.prices import LinearPrices
from budget_opt.certificate.partitions.proof import Partitions, PriceRow, bounded, of_each
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.errors import BudgetOptError
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.convex_method import ImpossibleError
from budget_opt.solvers.partitions.covering import cover
from budget_opt.solvers.table import solve

_NEED_GAP = 1e-6
_SAME = 1e-9
"""Relative: what is above the search's bound by its digits alone is not lowered."""


def recorded(choice: Choice, variant: int, prices: Sequence[LinearPrices], bound: float) -> list[PriceRow]:
    """Rows that prove the `bound` of the scores of all partitions, or the least that they can.

    `prices` are those of a search of the `variant`-th combination of groupings; where they leave a partition
    above the bound that has no split within the total, prices of need are found for it.
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
        """Until no bound is above the search's, or the highest cannot be lowered."""
        assert self.among.listing is not None
        bounds = np.full(self.among.listing.size, trivial_bound(self.among.choice))
        enough = self.bound + (_SAME * (1.0 + abs(self.bound)) if math.isfinite(self.bound) else 0.0)
        while bounds.size:
            n = int(np.argmax(bounds))
            row = None if bounds[n] <= enough else self._lowest(n, bounds[n]) or self._need(n)
            if row is None:
                break
            self.rows.append(row)
            bounds = np.minimum(bounds, of_each(self.among, row))
        return self.rows

    def _lowest(self, n: int, present: float) -> PriceRow | None:
        """The prices that bound the n-th partition best, if that is better than at `present`."""
        assert self.among.listing is not None
        inside = self.among.listing.rows[n]
        sums = [np.sum(worth[inside[inside >= 0]], keepdims=True) for worth in self._worths]
        scores = [float(one.score(total)[0]) for one, total in zip(self.prices, sums, strict=True)]
        best = min(range(len(scores)), key=scores.__getitem__, default=None)
        if best is None or scores[best] >= present:
            return None
        return _row(self.among, self.variant, self.prices[best])

    @cached_property
    def _worths(self) -> list[FloatArray]:
        """What every block adds at most by each of the prices, (n,)."""
        assert self.among.catalogue is not None
        return [one.worth(self.among.catalogue) for one in self.prices]

    def _need(self, n: int) -> PriceRow | None:
        """Prices that show that the n-th partition needs more than the total; None where it does not."""
        need, listing = self.among.need, self.among.listing
        assert listing is not None
        if self.among.choice.problem.total_epsilon is None:
            return None
        try:
            arrays = need.choice.arrays(listing.partition(n))
            found = solve(arrays, Settings(_NEED_GAP, explanation_limit=0.0)).certificate.multipliers
        except (BudgetOptError, ImpossibleError):
            return None
        if found is None:
            return None
        row = _row(need, self.variant, LinearPrices.of(need.choice, arrays, found), need=True)
        return row if of_each(self.among, row)[n] == -np.inf else None


def _row(among: Partitions, variant: int, prices: LinearPrices, *, need: bool = False) -> PriceRow:
    pi = np.zeros(among.choice.size)
    if among.listing is None and among.catalogue is not None:
        worth = prices.worth(among.catalogue)
        if np.all(np.isfinite(worth)):
            pi = cover(among.catalogue, worth)
    return PriceRow(variant, need, prices.multipliers, prices.shares, pi)
