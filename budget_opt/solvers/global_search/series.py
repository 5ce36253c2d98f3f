"""One weighted sum under a series of totals: each starts from its neighbour, and all are proved in step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.certificate.pruning.question import Question
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.answer import Task
from budget_opt.solvers.convex_method import ImpossibleError
from budget_opt.solvers.feasibility import passes_a_ceiling
from budget_opt.solvers.global_search import together
from budget_opt.solvers.global_search.method import Incumbent, begun, ended
from budget_opt.solvers.global_search.search import Search

Outcome = tuple[FloatArray, Certificate] | ImpossibleError | NotSolvedError | None
"""A split (M,) with its certificate, why there is none, or None where the series ended before."""
Told = Callable[[int, float, float, bool], None]
"""Hears which problem, its value and bound, and whether it has ended."""


def solve(tasks: Sequence[Task], told: Told) -> list[Outcome]:
    """The best split of every problem, and its certificate: of one weighted sum, in the order of the totals.

    The tasks share one clock. At its limit and at Ctrl-C every problem that was begun has the best split and
    the bound proved by then.
    """
    outcomes, incumbents = _begun(tasks)
    searches = {
        k: Search(Question.of(tasks[k].arrays), tasks[k].settings.gap, incumbent, tasks[k].clock.check)
        for k, incumbent in incumbents.items()
        if incumbent.has_choice
    }
    for some in _groups(searches):

        def heard(k: int, bound: float, nodes: int | None, some: list[int] = some) -> None:
            told(some[k], searches[some[k]].incumbent.value, bound, nodes is None)

        with tasks[0].clock.ending_early():
            together.run([searches[k] for k in some], heard)
    for k, incumbent in incumbents.items():
        if k in searches:
            outcomes[k] = ended(searches[k], incumbent)
        else:
            outcomes[k] = incumbent.split, certify(tasks[k].arrays, incumbent.split)
    return outcomes


def _begun(tasks: Sequence[Task]) -> tuple[list[Outcome], dict[int, Incumbent]]:
    """Splits before any search, from the largest total downwards: what is idle there stays idle below.

    Then upwards, where a split from below may be better.
    """
    outcomes: list[Outcome] = [None] * len(tasks)
    incumbents: dict[int, Incumbent] = {}
    starts: tuple[FloatArray, ...] = ()
    with tasks[0].clock.ending_early():
        for k in reversed(range(len(tasks))):
            tasks[k].clock.check()
            try:
                if passes_a_ceiling(tasks[k].arrays):
                    raise ImpossibleError
                incumbents[k] = begun(replace(tasks[k], starts=starts))
            except (ImpossibleError, NotSolvedError) as failure:
                # without time to look nothing is said of a problem
                tasks[k].clock.check()
                outcomes[k] = failure
                continue
            starts = (incumbents[k].split,)
        _from_below([incumbents[k] for k in sorted(incumbents)])
    return outcomes, incumbents


def _from_below(incumbents: Sequence[Incumbent]) -> None:
    """Try every split at the next total, where it keeps all constraints too."""
    for below, incumbent in pairwise(incumbents):
        incumbent.best.offer(below.split)
        if incumbent.has_choice:
            incumbent.improve(below.split[:, None], thoroughly=False)


def _groups(searches: dict[int, Search]) -> list[list[int]]:
    """Which searches go in step, the largest total first: its root is the one bounded on its own."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for k in sorted(searches, reverse=True):
        groups[together.kind(searches[k].question)].append(k)
    return list(groups.values())
