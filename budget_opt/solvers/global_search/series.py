"""One weighted sum under a series of totals: each starts from its neighbour, many are proved in step."""

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
from budget_opt.solvers.global_search.guided import Guide
from budget_opt.solvers.global_search.method import Incumbent, begun, ended
from budget_opt.solvers.global_search.recording import Recording
from budget_opt.solvers.global_search.search import Search

_FIRST, _EVERY = 1, 4
"""Which totals are proved first: hardly any other is more than two away from one of them."""
_SHARE = 0.5
"""Of the time limit, after which the first totals wait for their neighbours."""
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
        with tasks[0].clock.ending_early():
            _prove(searches, some, told, lambda: tasks[0].clock.left(_SHARE) <= 0)
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


def _prove(searches: dict[int, Search], some: Sequence[int], told: Told, pause: Callable[[], bool]) -> None:
    """Some of the searches in step, then those beside them, each guided by the tree of the nearest."""

    def hearing(these: Sequence[int]) -> together.Told:
        def heard(place: int, bound: float, nodes: int | None) -> None:
            told(these[place], searches[these[place]].incumbent.value, bound, nodes is None)

        return heard

    first = some[_FIRST::_EVERY] or some
    beside = [k for k in some if k not in first]
    recording = Recording()
    for k in first if beside else ():
        searches[k].recording, searches[k].name = recording, recording.root()
    running = together.begun([searches[k] for k in first], hearing(first))
    running.go_on(pause=pause)
    nearest = {k: Guide(recording, searches[min(first, key=lambda j: abs(j - k))].name) for k in beside}
    guided = [k for k in beside if nearest[k].knows]
    together.follow([searches[k] for k in guided], [nearest[k] for k in guided], hearing(guided))
    alone = [k for k in beside if k not in guided]
    together.begun([searches[k] for k in alone], hearing(alone)).go_on()
    running.go_on()


def _groups(searches: dict[int, Search]) -> list[list[int]]:
    """Which searches may go in step, the largest total first."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for k in sorted(searches, reverse=True):
        groups[together.kind(searches[k].question)].append(k)
    return list(groups.values())
