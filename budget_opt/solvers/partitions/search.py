"""The best partition with its best split: climb to a good one, then prove how good it is.

**Climb.** From every start, the best first, steps to neighbours, those that the prices of the present
partition hold to be the best first; one whose bound is no better than what there is needs no solve.

**Prove.** Where all partitions can be listed, the one with the largest bound is solved again and again; its
own bound takes the place of that by prices, and its prices lower the bounds of all others. When no bound is
above the best score the answer is proved among all. Where there are too many, the best cover by prices bounds
them all at once (`covering`), and a gap remains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from budget_opt.certificate.partitions.choice import Blocks, Choice, Partition, admissible
from budget_opt.certificate.partitions.covering import attribute_bound
from budget_opt.certificate.partitions.listing import Listing, listed
from budget_opt.certificate.partitions.prices import LinearPrices, Prices
from budget_opt.certificate.partitions.proof import MOST_BLOCKS, MOST_LISTED
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.certificate.pruning.symmetry import classes
from budget_opt.errors import ProblemError
from budget_opt.model.arrays import BoolArray, FloatArray
from budget_opt.solvers.answer import Clock, OutOfTimeError, Settings
from budget_opt.solvers.partitions.covering import cover_bound
from budget_opt.solvers.partitions.master import Master
from budget_opt.solvers.partitions.moves import neighbours
from budget_opt.solvers.partitions.trying import Tried, tried, tried_quickly

MOST_PROVED = 2_000
"""Partitions that a proof solves, at most."""
_WIDTH = 12
"""Neighbours that are solved from one partition before the climb ends there."""
_BETTER = 1e-9
_COVERS = 8
"""Partitions whose prices are tried for a cover, the best ones."""
_COMMON = 3
"""Prices for all partitions that a proof begins with, the best ones."""
_IDLE, _SELDOM = 4, 8
"""After so many prices in a row that ruled out nothing, only every so many are used."""

Told = Callable[[float, float | None, int], None]
"""Hears the best score, the bound where there is one, and how many partitions were solved."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best partition, and the bound of the scores of all.

    `best.score` is -inf where no partition has a split that is known; so is `bound` where it is proved that
    none has. `solved` partitions were solved; `listed` is how many there are, None where that is too many,
    and `distinct` how many of them differ by more than swaps of attributes that are alike.
    """

    best: Tried
    bound: float
    solved: int
    listed: int | None
    distinct: int | None


@dataclass(eq=False)
class PartitionSearch:
    """One search; `known` is all that was solved, `rival` a score that was reached elsewhere.

    `shared` are the prices that were made to suit all partitions.
    """

    choice: Choice
    gap: float
    clock: Clock
    told: Told = lambda *_: None
    rival: float = -math.inf
    known: dict[Partition, Tried] = field(default_factory=dict)
    shared: list[LinearPrices] = field(default_factory=list)

    def run(self, starts: Sequence[Partition], *, in_vain: bool = False) -> Found:
        """Climb from the starts, and prove; where nothing was found, only if it may be `in_vain`.

        The first start is split even where the time limit leaves no time for it.
        """
        bound = math.inf
        counts: tuple[int | None, int | None] = (None, None)
        for start in starts[:1]:
            self.keep(self._first(start))
        with self.clock.ending_early():
            tries = [self._quick(start) for start in dict.fromkeys(starts)]
            for one in sorted(tries, key=lambda one: -one.score):
                self._climb(one)
        if in_vain or self.to_beat > -math.inf:
            bound = trivial_bound(self.choice)
            with self.clock.ending_early():
                bound, counts = self._proved()
        return Found(self.best, max(bound, self.best.score), len(self.known), *counts)

    def _first(self, start: Partition) -> Tried:
        """A split in the time there is, else without a limit."""
        try:
            found = tried_quickly(self.choice, start, self.clock)
        except OutOfTimeError:
            found = None
        if found is None or (found.epsilon is None and found.bound == math.inf):
            found = tried_quickly(self.choice, start, Clock(None))
        return found

    @property
    def to_beat(self) -> float:
        """The best score here or elsewhere."""
        return max(self.best.score, self.rival)

    @property
    def best(self) -> Tried:
        """The best so far; the first of equals."""
        nothing = Tried(self.choice.alone, -math.inf, math.inf)
        return max(self.known.values(), key=lambda one: one.score, default=nothing)

    def keep(self, found: Tried) -> None:
        """Note what was found of a partition, beside a better split that is known of it."""
        before = self.known.get(found.partition)
        if before is None or found.score >= before.score:
            self.known[found.partition] = found
        else:
            bound, prices = min(before.bound, found.bound), (*before.prices, *found.prices)
            self.known[found.partition] = replace(before, bound=bound, prices=prices)

    def _climb(self, start: Tried) -> None:
        here: Tried | None = start
        while here is not None and here.epsilon is not None:
            here = self._better(here)

    def _better(self, here: Tried) -> Tried | None:
        """The first neighbour solved that is better."""
        steps = [one for one in neighbours(self.choice, here.partition) if one not in self.known]
        if not steps:
            return None
        blocks = Blocks.of(self.choice, tuple(dict.fromkeys(block for one in steps for block in one)))
        at = blocks.positions()
        rows = [[at[block] for block in one] for one in steps]
        bounds = np.full(len(steps), np.inf)
        for prices in here.prices:
            worth = prices.worth(blocks)
            bounds = np.minimum(bounds, prices.score(np.array([np.sum(worth[row]) for row in rows])))
        hopeful = [n for n in np.argsort(-bounds, kind="stable") if bounds[n] > here.score + _BETTER]
        for n in hopeful[:_WIDTH]:
            found = self._quick(steps[n])
            if found.score > here.score + _BETTER:
                return found
        return None

    def _quick(self, partition: Partition) -> Tried:
        if partition not in self.known:
            self.known[partition] = tried_quickly(self.choice, partition, self.clock)
            self._tell(None)
        return self.known[partition]

    def _proved(self) -> tuple[float, tuple[int | None, int | None]]:
        """The bound of all partitions, how many there are, and how many differ."""
        check = self.clock.check
        blocks = admissible(self.choice, MOST_BLOCKS, check)
        if blocks is None:
            return min(self._shared_out(), trivial_bound(self.choice)), (None, None)
        listing = listed(blocks, self.choice.size, MOST_LISTED, self._alike(), check)
        catalogue = Blocks.of(self.choice, blocks)
        if listing is None:
            return min(self._covered(catalogue), trivial_bound(self.choice)), (None, None)
        proof = _Proof(self, listing, catalogue)
        proof.run()
        return proof.bound, (listing.stands_for, listing.size)

    def _alike(self) -> tuple[Sequence[int], ...]:
        """Interchangeable attributes; of a weighted sum, whose splits are dear."""
        if self.choice.objective != "weighted_sum":
            return ()
        try:
            found = classes(self.choice.arrays(self.choice.alone))
        except ProblemError:
            return ()
        # a minimum stays what it is in a cluster, and what a distortion needs grows with its categories
        least = [attribute.least_retention for attribute in self.choice.problem.attributes]
        parts = [
            [int(i) for i in one if least[i] == need] for one in found for need in {least[i] for i in one}
        ]
        return tuple(part for part in parts if len(part) > 1)

    def _covered(self, catalogue: Blocks) -> float:
        """The best cover by prices: of the best partitions, and for convex objectives those of all."""
        best = self.common_prices(catalogue)[1]
        order = sorted(self.known.values(), key=lambda one: -one.score)[:_COVERS]
        with self.clock.ending_early():
            for prices in (prices for one in order for prices in one.prices):
                self.clock.check()
                most = cover_bound(catalogue, prices.worth(catalogue))
                best = min(best, float(prices.score(np.array([most]))[0]))
        return best

    def _shared_out(self) -> float:
        """The best bound by prices of attributes, where the blocks are too many."""
        order = sorted(self.known.values(), key=lambda one: -one.score)[:_COVERS]
        linear = [prices for one in order for prices in one.prices if isinstance(prices, LinearPrices)]
        bounds = [prices.score(np.array([attribute_bound(self.choice, prices)])) for prices in linear]
        return min((float(bound[0]) for bound in bounds), default=math.inf)

    def common_prices(self, catalogue: Blocks) -> tuple[list[LinearPrices], float]:
        """Prices that suit all partitions, and what they prove of all; none for a weighted sum."""
        if self.choice.objective == "weighted_sum":
            return [], math.inf
        master = Master.of(self.choice, catalogue, tuple(self.known.values()))
        self.shared, bound = ([], math.inf) if master is None else master.run(self.clock)
        return self.shared, bound

    @property
    def prices(self) -> list[LinearPrices]:
        """All prices of a convex objective that were found."""
        found = (prices for one in self.known.values() for prices in one.prices)
        return [*self.shared, *(one for one in found if isinstance(one, LinearPrices))]

    def _tell(self, bound: float | None) -> None:
        self.told(self.best.score, bound, len(self.known))


@dataclass(eq=False)
class _Proof:
    """The bounds of all listed partitions; `bound` is proved at any moment."""

    search: PartitionSearch
    listing: Listing
    catalogue: Blocks
    bounds: FloatArray = field(init=False)
    done: BoolArray = field(init=False)
    idle: int = 0

    def __post_init__(self) -> None:
        self.bounds = np.full(self.listing.size, trivial_bound(self.search.choice))
        self.done = np.zeros(self.listing.size, dtype=bool)

    @property
    def bound(self) -> float:
        """Of the scores of all partitions."""
        return float(np.max(self.bounds, initial=-np.inf))

    def run(self) -> None:
        """Solve the most promising until none is left, or a limit ends it."""
        with self.search.clock.ending_early():
            self._begin()
            for count in range(MOST_PROVED):
                n = self._next()
                if n is None:
                    return
                self._solve(n, count)

    def _begin(self) -> None:
        """What the climb has solved: its bounds, and the prices of its best."""
        order = sorted(self.search.known.values(), key=lambda one: -one.score)
        places = self.listing.positions([one.partition for one in order])
        for one, n in zip(order, places, strict=True):
            if n is not None:
                self.bounds[n] = min(self.bounds[n], one.bound)
                self.done[n] = math.isfinite(one.bound) or one.bound < 0
        for one in order[:_COVERS]:
            self._lower(one.prices)
        self._lower(self.search.common_prices(self.catalogue)[0][-_COMMON:])

    def _next(self) -> int | None:
        open_ = ~self.done & (self.bounds > _enough(self.search))
        if not np.any(open_):
            return None
        return int(np.argmax(np.where(open_, self.bounds, -np.inf)))

    def _solve(self, n: int, count: int) -> None:
        search = self.search
        partition = self.listing.partition(n)
        settings = Settings(gap=search.gap)
        found = tried(search.choice, partition, settings, search.clock, search.to_beat)
        search.keep(found)
        self.done[n], self.bounds[n] = True, min(self.bounds[n], found.bound)
        if self.idle < _IDLE or count % _SELDOM == 0:
            before = np.sum(~self.done & (self.bounds > _enough(search)))
            self._lower(found.prices)
            after = np.sum(~self.done & (self.bounds > _enough(search)))
            self.idle = 0 if after < before else self.idle + 1
        search.told(search.best.score, self.bound, len(search.known))

    def _lower(self, prices: Sequence[Prices]) -> None:
        for one in prices:
            sums = self.listing.sums(one.worth(self.catalogue))
            self.bounds = np.minimum(self.bounds, one.score(sums))


def _enough(search: PartitionSearch) -> float:
    """The score up to which a bound leaves no more than the gap to the best."""
    best = search.to_beat
    if not math.isfinite(best):
        return best
    of_sum = search.choice.objective == "min_epsilon"  # whose score is no logarithm
    share = search.gap * abs(best) if of_sum else math.log1p(search.gap)
    return best + 0.99 * share
