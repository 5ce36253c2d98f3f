"""The least set that hits every one of some sets, by branch and bound on whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from budget_opt.solvers.conflicts.constraints import Constraint

Sets: TypeAlias = Sequence[frozenset[Constraint]]


def least_hitting(sets: Sets, proceed: Callable[[], bool]) -> tuple[frozenset[Constraint], int]:
    """A set that hits all of `sets` (none empty), and the proved least size of any; both agree if it ended.

    `proceed` is asked now and then, and ends the search by saying no.
    """
    minimal = [one for one in sets if not any(other < one for other in sets)]
    search = _Search(minimal, proceed)
    search.branch(frozenset(), frozenset(), minimal)
    return search.best, len(search.best) if search.complete else len(_disjoint(minimal))


class _Search:
    def __init__(self, sets: Sets, proceed: Callable[[], bool]) -> None:
        self.proceed, self.complete, self.nodes = proceed, True, 0
        self.best: frozenset[Constraint] = _greedy(sets)

    def branch(self, chosen: frozenset[Constraint], refused: frozenset[Constraint], left: Sets) -> None:
        """Hit what is left, with none of `refused`, if that can beat the best set."""
        self.nodes += 1
        self.complete = self.complete and (self.nodes % 256 > 0 or self.proceed())
        if not self.complete:
            return
        if not left:
            if len(chosen) < len(self.best):
                self.best = chosen
            return
        open_sets = [one - refused for one in left]
        if not all(open_sets) or len(chosen) + len(_disjoint(open_sets)) >= len(self.best):
            return
        counts = Counter(item for one in open_sets for item in one)
        smallest = min(open_sets, key=len)
        for item in sorted(smallest, key=lambda item: (-counts[item], item)):
            self.branch(chosen | {item}, refused, [one for one in left if item not in one])
            refused |= {item}


def _greedy(sets: Sets) -> frozenset[Constraint]:
    """A set that hits all: the most frequent item again and again."""
    chosen: set[Constraint] = set()
    left = list(sets)
    while left:
        counts = Counter(item for one in left for item in one)
        item = max(counts, key=lambda item: (counts[item], item))
        chosen.add(item)
        left = [one for one in left if item not in one]
    return frozenset(chosen)


def _disjoint(sets: Sets) -> list[frozenset[Constraint]]:
    """Sets without a common item, the smallest first: each needs a member of its own."""
    taken: set[Constraint] = set()
    found = []
    for one in sorted(sets, key=len):
        if not one & taken:
            taken |= one
            found.append(one)
    return found
