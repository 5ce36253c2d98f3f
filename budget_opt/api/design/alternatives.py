"""Other ways to spend the same budget, each with its split: what a design is compared with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from budget_opt.allocation import Allocation, uniform
from budget_opt.allocation.merging import categories_told
from budget_opt.api.design.losses import weighted_variance
from budget_opt.api.design.result import Alternative
from budget_opt.api.design.splitting import Terms, best_allocation
from budget_opt.api.splits import broken_constraints
from budget_opt.errors import InfeasibleError, NotSolvedError, ProblemError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem

Made = Callable[[], Problem]
"""Builds the problem with the clusters of an alternative; it may find that the budgets do not allow them."""


@dataclass(frozen=True, eq=False)
class Split:
    """The split of one alternative, or what is in the way; `seconds` are of the clock on the wall."""

    clusters: tuple[tuple[str, ...], ...]
    groupings: Mapping[str, str]
    allocation: Allocation | None
    why: str | None
    seconds: float

    @property
    def attained(self) -> float | None:
        """The objective at lambda(epsilon), which is what bounds are about."""
        if self.allocation is None:
            return None
        return objective_value(self.allocation.question.arrays, self.allocation.epsilons)

    def is_better(self, other: Split) -> bool:
        """True where its split is better, or the other has none."""
        mine, theirs = self.attained, other.attained
        if self.allocation is None or mine is None:
            return False
        if theirs is None:
            return True
        return mine < theirs if self.allocation.objective.kind in MINIMIZED else mine > theirs


def best_split(made: Made, terms: Terms) -> Split:
    """The best split of an alternative that these terms allow."""
    return _split(made, lambda problem: best_allocation(problem, terms))


def even_split(made: Made) -> Split:
    """The even split of an alternative, which may break floors and ceilings."""
    return _split(made, uniform)


def _split(made: Made, how: Callable[[Problem], Allocation]) -> Split:
    start = time.perf_counter()
    clusters: tuple[tuple[str, ...], ...] = ()
    groupings: Mapping[str, str] = {}
    try:
        problem = made()
        clusters = tuple(block.names for block in problem.blocks if block.is_cluster)
        groupings = groupings_of(problem)
        allocation = how(problem)
    except (InfeasibleError, NotSolvedError, ProblemError) as failure:
        return Split(clusters, groupings, None, _because(failure), time.perf_counter() - start)
    return Split(clusters, groupings, allocation, None, time.perf_counter() - start)


def _because(failure: InfeasibleError | NotSolvedError | ProblemError) -> str:
    """What is in the way, without the ways out: those of another question than the design's."""
    if isinstance(failure, ProblemError):
        return "; ".join(map(str, failure.faults))
    said = str(failure).splitlines()
    conflict = [line.strip() for line in said[1:2] if isinstance(failure, InfeasibleError)]
    return " ".join([said[0], *conflict])


def groupings_of(problem: Problem) -> dict[str, str]:
    """The coarser categories in words, by attribute, where there are some."""
    return {one.name: categories_told(one) for one in problem.attributes if one.grouping is not None}


def as_alternative(name: str, split: Split, base: Allocation | None) -> Alternative:
    """The split beside the one that the ratios are to."""
    allocation = split.allocation
    if allocation is None:
        return Alternative(
            name, split.clusters, split.groupings, None, None, None, (), split.seconds, split.why
        )
    broken = broken_constraints(allocation, allocation.question)
    return Alternative(
        name,
        split.clusters,
        split.groupings,
        allocation,
        _ratio(allocation, base),
        weighted_variance(allocation),
        tuple(str(one.constraint) for one in broken),
        split.seconds,
    )


def _ratio(allocation: Allocation, base: Allocation | None) -> float | None:
    value = allocation.objective.value
    unit = None if base is None else base.objective.value
    return None if value is None or not unit else value / unit
