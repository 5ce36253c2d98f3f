"""The answer of `bo.design`: the clusters with their split, what they are compared with, what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from budget_opt.api.design.considered import Considered

EVEN = "no clusters, even split"
ALONE = "no clusters, best split"
DEPENDENCE = "clusters by dependence, best split"
STATED = "the problem's clusters, best split"
CHOSEN_EVEN = "chosen, even split"
CHOSEN = "chosen, best split"


@dataclass(frozen=True)
class Alternative:
    """One way to spend the budget: clusters and groupings by name, with a split.

    `value` is the objective with the lambda that the sampler implements, `bound` that of a best split with
    these clusters, None where there is none. `ratio` is the value over that of `Design.ratio_to`, `variance`
    the sum of weight x variance x variance inflation over the weighted moments, None where one of them is not
    released; each inflation is divided by what groupings leave (`losses.inflation_of`). `broken` names floors
    and ceilings that the split does not keep. `why` says what is in the way where there is no split.
    `seconds` are those of its split alone.
    """

    name: str
    clusters: tuple[tuple[str, ...], ...]
    groupings: Mapping[str, str]
    allocation: Allocation | None
    ratio: float | None
    variance: float | None
    broken: tuple[str, ...]
    seconds: float
    why: str | None = None

    @property
    def value(self) -> float | None:
        """The objective's value; None without a split."""
        return None if self.allocation is None else self.allocation.objective.value

    @property
    def bound(self) -> float | None:
        """What no split with these clusters passes, proved; None for an even split."""
        return None if self.allocation is None else self.allocation.objective.bound

    @property
    def keeps_all(self) -> bool:
        """True where it is a split and keeps every floor and ceiling."""
        return self.allocation is not None and not self.broken

    def to_dict(self) -> dict[str, Any]:
        """All numbers as JSON, without the allocation."""
        return {
            "name": self.name,
            "clusters": [list(names) for names in self.clusters],
            "groupings": dict(self.groupings),
            "value": self.value,
            "bound": self.bound,
            "status": None if self.allocation is None else self.allocation.objective.status,
            "ratio": self.ratio,
            "variance": self.variance,
            "keeps_all": self.keeps_all,
            "broken": list(self.broken),
            "why": self.why,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Member:
    """What a member of a cluster loses and gains by it: beside the best split without clusters.

    `epsilon` (nats) is the cluster's: a change of this attribute alone now costs all of it. `retention` and
    `variance_inflation` are those of the attribute's own marginal, under stated or uniform shares
    (DESIGN 2.3), the latter divided by what its groupings leave; `records` is what n records are worth for
    it, None without an n. The fields `…_alone` are
    None where there is no split without clusters, an inflation also where the attribute is not released.
    """

    name: str
    cluster: str
    epsilon_alone: float | None
    epsilon: float
    retention_alone: float | None
    retention: float
    variance_inflation_alone: float | None
    variance_inflation: float | None
    records_alone: float | None
    records: float | None


@dataclass(frozen=True)
class Joined:
    """A chosen cluster: its members, joint categories, the epsilon that they share, and records a cell."""

    name: str
    members: tuple[str, ...]
    cells: int
    epsilon: float
    retention: float
    records_a_cell: float | None


@dataclass(frozen=True)
class DesignedMoment:
    """A moment without clusters and as chosen: retention and variance inflation.

    The inflation is that of the moment of the declared scores: it is divided by what groupings leave, so that
    fine and coarse categories compare (`losses.inflation_of`).
    Where it `touches_twice`, two of its attributes are in one cluster: the retention is the factor on the
    function of the cluster (DESIGN 2.9).
    """

    label: str
    weight: float
    floor: float | None
    retention_alone: float | None
    retention: float
    variance_inflation_alone: float | None
    variance_inflation: float | None
    touches_twice: bool


@dataclass(frozen=True)
class Design(Rows):
    """The best clusters and groupings found, with their best split; one row an alternative.

    `problem` has them, and `allocation` is its solution. No partition into clusters of at most `max_cells`
    joint categories, with none of the groupings that are candidates, has a split that passes `bound`, which
    is proved; `relative_gap` is |bound - value| / |value|, both at lambda(epsilon). `status` is `optimal`
    where that is at most `gap_tolerance`. `counts` says how many partitions and groupings there are, and
    `solved` how many of them had to be solved. `ratio_to` names the alternative that the ratios are to: the
    best split without clusters, where there is one. `dependence` says what the clusters by dependence are
    made from; where it was given they may be better than the choice, which does not rest on it.
    `certified_bound` is what the certificate file proves, None where none was asked for.
    """

    problem: Problem
    allocation: Allocation
    bound: float
    relative_gap: float
    gap_tolerance: float
    status: Literal["optimal", "feasible"]
    max_cells: int
    counts: Considered
    solved: int
    alternatives: tuple[Alternative, ...]
    clusters: tuple[Joined, ...]
    members: tuple[Member, ...]
    moments: tuple[DesignedMoment, ...]
    groupings: Mapping[str, str]
    ratio_to: str
    dependence: str
    n: float | None
    seconds: float
    certified_bound: float | None = None

    @property
    def value(self) -> float | None:
        """The objective of the chosen design, with the lambda that the sampler implements."""
        return self.allocation.objective.value

    @property
    def considered(self) -> int | None:
        """How many partitions there are under one combination of groupings; None where too many to list."""
        return self.counts.partitions

    @property
    def minimized(self) -> bool:
        """True where a smaller objective is better."""
        return self.problem.objective in MINIMIZED

    @property
    def lost(self) -> tuple[str, ...]:
        """What the clusters cost, a sentence each; empty without clusters."""
        from budget_opt.api.design.words import lost

        return lost(self)

    def with_certified(self, bound: float) -> Design:
        """A copy that knows what its certificate proves; the better of the two bounds counts."""
        tighter = bound > self.bound if self.minimized else bound < self.bound
        if not tighter:
            return replace(self, certified_bound=bound)
        arrays = self.problem.arrays
        gap = relative_gap(objective_value(arrays, self.allocation.epsilons), bound)
        status: Literal["optimal", "feasible"] = "optimal" if gap <= self.gap_tolerance else "feasible"
        return replace(self, bound=bound, relative_gap=gap, status=status, certified_bound=bound)

    def __getitem__(self, name: str) -> Alternative:
        for alternative in self.alternatives:
            if alternative.name == name:
                return alternative
        names = ", ".join(repr(one.name) for one in self.alternatives)
        raise InputError(f"alternative {name!r} is not in the design; it has {names}.")

    def rows(self) -> list[dict[str, Any]]:
        """A row an alternative."""
        return [
            {
                "alternative": one.name,
                "clusters": "; ".join(" + ".join(names) for names in one.clusters),
                "value": one.value,
                "bound": one.bound,
                "ratio": one.ratio,
                "variance": one.variance,
                "keeps_all": one.keeps_all,
                "seconds": one.seconds,
            }
            for one in self.alternatives
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON, with the problem and the allocation as documents."""
        return {
            "objective": self.problem.objective,
            "better_is": "smaller" if self.minimized else "larger",
            "status": self.status,
            "value": self.value,
            "bound": _finite(self.bound),
            "relative_gap": _finite(self.relative_gap),
            "gap_tolerance": self.gap_tolerance,
            "certified_bound": None if self.certified_bound is None else _finite(self.certified_bound),
            "max_cells": self.max_cells,
            "partitions": self.counts.partitions,
            "partitions_that_differ": self.counts.distinct,
            "combinations_of_groupings": self.counts.groupings,
            "designs": self.counts.designs,
            "solved": self.solved,
            "clusters": [{**asdict(one), "members": list(one.members)} for one in self.clusters],
            "groupings": dict(self.groupings),
            "alternatives": [one.to_dict() for one in self.alternatives],
            "ratio_to": self.ratio_to,
            "lost": list(self.lost),
            "members": [asdict(one) for one in self.members],
            "moments": [asdict(one) for one in self.moments],
            "dependence": self.dependence,
            "n": self.n,
            "seconds": self.seconds,
            "problem": self.problem.to_dict(),
            "allocation": self.allocation.to_dict(),
        }

    def renderable(self) -> RenderableType:
        """Tables and sentences for a rich console."""
        from budget_opt.api.design.words import renderable

        return renderable(self)

    def __str__(self) -> str:
        from budget_opt.tables.printing import plain_text

        return plain_text(self.renderable())


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
