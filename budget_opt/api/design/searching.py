"""The search over groupings and partitions: the best, one bound for all, and why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from budget_opt.api.design.asking import Asked, dependence_of, stated_partition
from budget_opt.api.design.considered import Considered, considered
from budget_opt.certificate.convex import in_objective_unit
from budget_opt.certificate.partitions.choice import Choice, Partition
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.errors import Infeasibility, InfeasibleError, NotSolvedError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.groupings.grouping import Grouping
from budget_opt.model.objectives import relative_gap
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON
from budget_opt.solvers.answer import Callback, Clock, Report
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up
from budget_opt.solvers.partitions.search import Found, PartitionSearch, Told

if TYPE_CHECKING:
    from budget_opt.certificate.partitions.prices import LinearPrices
    from budget_opt.solvers.partitions.trying import Tried

NEED_GAP = 1e-6
"""Relative, of the least total that a partition needs."""
_NO_SPLIT = -math.inf


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition of the attributes under some groupings, with the best split known of it."""

    choice: Choice
    groupings: Mapping[str, Grouping | None]
    tried: Tried

    @property
    def problem(self) -> Problem:
        """The problem with these clusters and groupings."""
        return self.choice.with_partition(self.tried.partition)


@dataclass(frozen=True, eq=False)
class Proof:
    """The bound of the scores of all partitions of a choice, and the prices that the search found."""

    choice: Choice
    prices: Sequence[LinearPrices]
    bound: float


@dataclass(frozen=True, eq=False)
class Searched:
    """Candidates, the best first, and the bound of the scores of all designs; `considered` as in `Design`.

    `choice` is that of the problem's own groupings, and `known` what was solved of it. `proofs` are what
    every combination of groupings that was looked at has to show, in the order of `Asked.variants`.
    """

    candidates: tuple[Candidate, ...]
    bound: float
    considered: Considered
    solved: int
    choice: Choice
    known: Mapping[Partition, Tried]
    proofs: tuple[Proof, ...]


_KEPT = 8
"""Candidates for the final solve: the second best stands in where the rounding of the best finds no room."""


@dataclass(eq=False)
class _Run:
    """One choice of groupings: its search, what that found, and what floors need where it found nothing."""

    choice: Choice
    groupings: Mapping[str, Grouping | None]
    search: PartitionSearch
    found: Found
    need: Found | None = None


def searched(asked: Asked, clock: Clock, progress: Callback | None) -> Searched:
    """The best designs; raises `InfeasibleError` where none is possible, else `NotSolvedError`."""
    variants = asked.variants()
    runs: list[_Run] = []
    best = _NO_SPLIT
    for left, (problem, groupings) in zip(range(len(variants), 0, -1), variants, strict=True):
        choice = Choice.of(problem, asked.max_cells)
        part = Clock(None if math.isinf(clock.left()) else max(clock.left() / left, 0.01))
        search = PartitionSearch(choice, asked.gap, part, rival=best)
        search.told = _telling(search, clock, progress)
        run = _Run(choice, groupings, search, search.run(_starts(choice, asked)))
        if run.found.best.score == _NO_SPLIT and best == _NO_SPLIT:
            _look_at_needs(run, asked)
        runs.append(run)
        best = max(best, run.found.best.score)
        if part.interrupted or (clock.left() <= 0 and best > _NO_SPLIT):
            break
    if best == _NO_SPLIT:
        raise _nothing(asked, runs, all_seen=len(runs) == len(variants))
    # after Ctrl-C or at the time limit: what was not looked at
    left_out = [trivial_bound(Choice.of(problem, asked.max_cells)) for problem, _ in variants[len(runs) :]]
    return Searched(
        _candidates(runs),
        max(*(run.found.bound for run in runs), *left_out, best),
        considered([run.found for run in runs], len(variants)),
        sum(run.found.solved for run in runs),
        runs[0].choice,
        runs[0].search.known,
        tuple(Proof(run.choice, run.search.prices, run.found.bound) for run in runs),
    )


def _candidates(runs: Sequence[_Run]) -> tuple[Candidate, ...]:
    known = [
        Candidate(run.choice, run.groupings, tried)
        for run in runs
        for tried in run.search.known.values()
        if tried.epsilon is not None
    ]
    known.sort(key=lambda one: -one.tried.score)
    return tuple(known[:_KEPT])


def _starts(choice: Choice, asked: Asked) -> list[Partition]:
    """No clusters, the problem's own, and those by weights; not those by a given dependence.

    What was seen in data would show in the choice otherwise.
    """
    stated = stated_partition(choice, asked.problem)
    starts = [choice.alone, *([] if stated is None else [stated])]
    return [*starts, dependence_of(choice, None)[0]]


def _telling(search: PartitionSearch, clock: Clock, progress: Callback | None) -> Told:
    """What makes reports of what the search tells; nothing where nobody listens."""

    def told(score: float, bound: float | None, solved: int) -> None:
        arrays = search.best.arrays
        if progress is None or arrays is None:
            return
        value = in_objective_unit(arrays, score)
        most = None if bound is None or math.isinf(bound) else in_objective_unit(arrays, bound)
        gap = math.inf if most is None else relative_gap(value, most)
        progress(Report(value, most, gap, clock.seconds, solved))

    return told


def _look_at_needs(run: _Run, asked: Asked) -> None:
    """Search again from the partition whose floors need the least total, unless none needs so little."""
    choice, search, total = run.choice, run.search, asked.problem.total_epsilon
    free = Choice.of(choice.problem.with_total(LARGEST_EPSILON), choice.max_cells, "min_epsilon")
    starts = [free.alone, dependence_of(free, None)[0]]
    need = PartitionSearch(free, NEED_GAP, search.clock).run(starts, in_vain=True)
    run.need = need
    if need.bound == _NO_SPLIT or (total is not None and -need.bound > total):
        run.found = replace(run.found, bound=_NO_SPLIT)
    elif need.best.score > _NO_SPLIT:
        run.found = search.run([need.best.partition], in_vain=True)


def _nothing(asked: Asked, runs: Sequence[_Run], *, all_seen: bool) -> InfeasibleError | NotSolvedError:
    """Why there is no design: what the best would need, and what all need at least.

    Nothing is proved unless `all_seen`: every combination of groupings was looked at.
    """
    total = asked.problem.total_epsilon
    needs = [(run.choice, run.need) for run in runs if run.need is not None]
    choice, need = max(needs, key=lambda pair: pair[1].best.score)
    bound, least = -max(one.bound for _, one in needs), -need.best.score
    within = f"no partition into clusters of at most {asked.max_cells} joint categories"
    if total is not None and least <= total:
        kind = asked.problem.objective
        worst = "infinite" if kind in MINIMIZED else "0"
        return NotSolvedError(
            f"total_epsilon: {total:.12g} is enough for all floors, ceilings, pins, bounds and groups, and "
            f"no split was found whose {kind} a number can tell from {worst}. Raise total_epsilon."
        )
    if all_seen and all(run.found.bound == _NO_SPLIT for run in runs):
        if math.isinf(least) or total is None:
            return InfeasibleError(
                f"{within} has a split that keeps all floors, ceilings, pins, bounds and groups, whatever "
                "the total. solve without clusters explains what conflicts there."
            )
        return _too_little(within, total, (least, bound), choice.named(need.best.partition))
    found = (
        "" if math.isinf(least) else f": the best one found needs a total epsilon of {rounded_up(least):g}"
    )
    return NotSolvedError(
        f"{within} was found that keeps everything, and it is not proved that none does{found}. Allow more "
        "time, raise total_epsilon, or lower a floor."
    )


def _too_little(
    within: str, total: float, need: tuple[float, float], clusters: Sequence[Sequence[str]]
) -> InfeasibleError:
    enough, bound = rounded_up(need[0]), need[1]
    joined = "; ".join(" + ".join(names) for names in clusters)
    how = f"with {joined} randomized together" if clusters else "without clusters"
    return InfeasibleError(
        f"{within} meets the floors, pins and bounds within the total epsilon of {total:.12g}.\n"
        f"  The one that needs least of those found needs {enough:g}, {how}; none needs less than "
        f"{rounded_down(bound, 6):g}, which is proved.\n"
        f"  Raise total_epsilon to {enough:g}, allow larger clusters (max_cells), or lower a floor.",
        Infeasibility(total=total, least_total=enough, least_total_bound=bound),
    )
