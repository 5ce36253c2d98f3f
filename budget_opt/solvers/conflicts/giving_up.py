"""The fewest floors and ceilings whose loss makes a problem possible.

Every set of wishes that is proved impossible, given everything else, must lose a member. A least set that
hits all those found bounds the number from below; where what it leaves is possible, it is the answer, else
it yields another impossible set (implicit hitting sets: Moreno-Centeno and Karp, Operations Research 61,
2013). Where everything shares one total there are too many such sets: then a linear relaxation bounds the
number. The wishes that a split breaks bound it from above.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.answer import Clock, OutOfTimeError
from budget_opt.solvers.conflicts.constraints import Constraint, System
from budget_opt.solvers.conflicts.deciding import Proof, decide
from budget_opt.solvers.conflicts.filtering import filtered
from budget_opt.solvers.conflicts.hitting import least_hitting
from budget_opt.solvers.conflicts.relaxation import Relaxation

Wishes = frozenset[Constraint]

_SEARCH = 0.7
"""Of the time, for the search from below; the rest goes into sparing single wishes."""
_RELAXED, _LONGEST = 0.2, 10.0
"""Share of the time left, and of these seconds at the most, for one call of a linear or integer program."""


@dataclass(frozen=True)
class GivenUp:
    """Giving up `wishes` would do; giving up fewer than `fewest` would not."""

    wishes: Wishes
    fewest: int


def fewest_given_up(system: System, known: Wishes, clock: Clock) -> GivenUp:
    """The fewest wishes to give up, or a range when the clock or Ctrl-C ends the search.

    `known` are wishes of which one must go.
    """
    search = _Search(system, clock, system.wishes, 1, [known] if known else [])
    with suppress(OutOfTimeError, KeyboardInterrupt):
        search.first()
        search.relax()
        search.run()
    search.share = 1.0
    with suppress(OutOfTimeError, KeyboardInterrupt):
        if not search.done:
            search.spare()
    return GivenUp(search.wishes, search.fewest)


@dataclass
class _Search:
    """The least and the most that must be given up so far, and the impossible sets found."""

    system: System
    clock: Clock
    wishes: Wishes
    fewest: int
    sets: list[Wishes]
    share: float = _SEARCH

    def tick(self) -> None:
        """Raise OutOfTimeError once the share of the time has passed."""
        self.clock.check(self.share)

    @property
    def done(self) -> bool:
        """True where the number is exact."""
        return self.fewest >= len(self.wishes)

    def first(self) -> None:
        """A first set: all but what can be had of the wishes, the cheapest first."""
        self._longest(_by_need(self.system))

    def relax(self) -> None:
        """Take the bound of the linear relaxation, and keep the wishes that it gives up least."""
        floors = self.system.of_kind("floor")
        if self.done or not floors:
            return
        seconds = _RELAXED * max(self.clock.left(), 0.0)
        bound, shares = Relaxation.of(self.system.arrays, self.sets).solve(min(seconds, _LONGEST))
        self.fewest = max(self.fewest, bound)
        given = dict(zip(self.system.arrays.floors.tolist(), shares.tolist(), strict=True))
        cheap = _by_need(self.system)
        self._longest(sorted(cheap, key=lambda one: given[one.index] if one.kind == "floor" else 0.0))

    def _longest(self, order: list[Constraint]) -> None:
        """Give up the rest after the longest run of the wishes in this order that is possible."""
        good, bad = 0, len(order)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._possible(frozenset(order[middle:])):
                good = middle
            else:
                bad = middle
        self._possible(frozenset(order[good:]))

    def run(self) -> None:
        """Raise the least and lower the most until they meet, or nothing more can be told."""
        least = self._least_hitting()
        while not self.done and self._completed(least):
            least = self._least_hitting()

    def _completed(self, dropped: Wishes) -> bool:
        """Drop more until a split is found, learning from every proof on the way; False where none is."""
        answer = decide(self.system.without(dropped), self.tick)
        while isinstance(answer, Proof):
            learned = self._learn(answer)
            if not learned:
                return False
            self.sets.append(learned)
            dropped |= learned
            answer = decide(self.system.without(dropped), self.tick)
        if answer is None:
            return False
        self._offer(answer)
        return True

    def spare(self) -> None:
        """Take back what can be taken back from the wishes given up, several at once while that succeeds."""
        untried = [one for one in _by_need(self.system) if one in self.wishes]
        size = 1
        while untried:
            tried = untried[:size]
            if self._possible(self.wishes - frozenset(tried)):
                size *= 2
            elif size > 1:
                size = 1
                continue
            untried = [one for one in untried[len(tried) :] if one in self.wishes]

    def _possible(self, dropped: Wishes) -> bool:
        """Judge what is left when some are dropped; a split is an offer as well."""
        answer = decide(self.system.without(dropped), self.tick)
        if isinstance(answer, np.ndarray):
            self._offer(answer)
            return True
        return False

    def _offer(self, split: FloatArray) -> None:
        broken = _broken(self.system, split)
        if len(broken) < len(self.wishes):
            self.wishes = broken

    def _learn(self, proof: Proof) -> Wishes:
        """Wishes of which one must go: as few as the filter finds."""
        hard = self.system.kept - self.system.wishes
        return filtered(self.system.arrays, proof, self.tick, hard).proof.members & self.system.wishes

    def _least_hitting(self) -> Wishes:
        """A least set that hits every set found; raises `fewest` to what is proved of its size."""
        chosen, least = least_hitting(self.sets, lambda: self.clock.left(self.share) > 0)
        self.fewest = max(self.fewest, least)
        self.tick()
        return chosen


def _broken(system: System, split: FloatArray) -> Wishes:
    """The wishes that a split (M,) misses."""
    arrays = system.arrays
    kept = log_retentions(arrays, split)
    missed = {"floor": kept < arrays.log_floor, "ceiling": kept > arrays.log_ceiling}
    return frozenset(one for one in system.wishes if missed[one.kind][one.index])


def _by_need(system: System) -> list[Constraint]:
    """The wishes by increasing need: ceilings, then floors by what each alone costs if shared evenly."""
    arrays = system.arrays
    need = {one: _own_need(arrays, one) for one in system.wishes}
    return sorted(need, key=lambda one: (need[one], one))


def _own_need(arrays: Arrays, one: Constraint) -> float:
    if one.kind == "ceiling":
        return 0.0
    members = arrays.members(one.index)
    even = arrays.log_floor[one.index] / members.size
    return float(np.sum(rr.epsilon_for_log_retention(np.minimum(even, -1e-15), arrays.cardinality[members])))
