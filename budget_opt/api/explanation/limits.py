"""What each limit of a problem costs: its price at the margin, and what dropping it would change, proved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedAttribute
from budget_opt.api.explanation.parts import HOLDING
from budget_opt.errors import ConstraintKind, InfeasibleError, NotSolvedError, ProblemError
from budget_opt.mechanisms.exact import exact_sum
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON

if TYPE_CHECKING:
    from budget_opt.certificate import Certificate

NOTHING = 1e-4
"""A change of the objective by less is called none."""
_GAP = 1e-4
"""To which weighted sums are solved anew, if time allows."""


@dataclass(frozen=True)
class Limit:
    """One number that limits the problem, and what the objective would gain without it.

    `limit` is the number, `measured` what the split has there. `price` is the derivative of the best value
    by the number (`prices`). If the limit alone is dropped, the best value changes by a share from
    `lowest_change` to `highest_change`, proved by a solve without it; None where not shown in time.
    """

    kind: ConstraintKind
    name: str
    limit: float
    measured: float
    price: float | None
    lowest_change: float | None = None
    highest_change: float | None = None
    attributes: tuple[str, ...] = ()
    """Of the moment, for a floor or ceiling: labels may be shared."""

    @property
    def met(self) -> bool:
        """True where the split is at the limit."""
        return abs(self.measured - self.limit) <= HOLDING * abs(self.limit)

    @property
    def gain(self) -> tuple[float, float] | None:
        """The least and the most that dropping it betters the objective, as shares >= 0."""
        if self.lowest_change is None or self.highest_change is None:
            return None
        ends = sorted((abs(self.lowest_change), abs(self.highest_change)))
        return ends[0], ends[1]


@dataclass(frozen=True)
class MoreTotal:
    """What a larger total, `raised` instead of `total` (nats), does to the best value; as in `Limit`.

    `price` is the derivative of the best value per nat of the total.
    """

    total: float
    raised: float
    price: float | None
    lowest_change: float | None
    highest_change: float | None


def stated_limits(allocation: Allocation, problem: Problem) -> list[Limit]:
    """Every floor, ceiling, group, pin and bound, with its price."""
    found = []
    labels = told_apart([moment.stated for moment in allocation.moments])
    for label, moment in zip(labels, allocation.moments, strict=True):
        kept, names = moment.retention, moment.attributes
        if moment.floor is not None:
            price = moment.floor_price
            found.append(Limit("floor", label, moment.floor, kept, price, attributes=names))
        if moment.ceiling is not None:
            price = moment.ceiling_price
            found.append(Limit("ceiling", label, moment.ceiling, kept, price, attributes=names))
    for group in problem.groups:
        spent = float(exact_sum(block.epsilon for block in allocation.touched(group.attributes)))
        price = allocation.sensitivity.get(group.name)
        found.append(Limit("group", group.name, group.epsilon_max, spent, price))
    for attribute in problem.attributes:
        found += _bounds(attribute, allocation[attribute.name], problem.block_of(attribute.name))
    return found


def _bounds(attribute: Attribute, allocated: AllocatedAttribute, block: Block) -> Iterator[Limit]:
    """The pin or the bounds of an attribute; where others of its cluster hold as much, they cost nothing."""
    bounds: dict[ConstraintKind, float | None] = {"epsilon": attribute.pin}
    if attribute.pin is None:
        bounds = {"epsilon_min": attribute.epsilon_min, "epsilon_max": attribute.epsilon_max}
    others = [member for member in block.members if member.name != attribute.name]
    for kind, number in bounds.items():
        if number is None:
            continue
        price = allocated.shadow_price
        one = Limit(kind, attribute.name, number, allocated.epsilon, price)
        below = kind != "epsilon_max" and any(other.lower >= number for other in others)
        above = kind != "epsilon_min" and any(other.upper <= number for other in others)
        idle = not one.met or below or above
        yield replace(one, price=0.0) if idle and price is not None else one


def without(problem: Problem, limit: Limit) -> Problem:
    """The problem without this limit."""
    if limit.kind in ("floor", "ceiling"):
        moments = [
            moment.with_fields(**{limit.kind: None}) if moment.attributes == limit.attributes else moment
            for moment in problem.moments
        ]
        return problem.with_fields(moments=moments)
    if limit.kind == "group":
        return problem.with_fields(groups=[group for group in problem.groups if group.name != limit.name])
    attributes = [
        _unlimited(attribute, limit.kind) if attribute.name == limit.name else attribute
        for attribute in problem.attributes
    ]
    return problem.with_fields(attributes=attributes)


def _unlimited(attribute: Attribute, kind: ConstraintKind) -> Attribute:
    """The attribute without this pin or bound; one with a source, which needs its pin, without the source."""
    if attribute.source is not None and kind == "epsilon":
        return attribute.with_fields(epsilon=None, distortion_max=None, source=None)
    return attribute.with_fields(**{kind: None})


class Resolver:
    """Solves changed problems within one time limit, and compares with the split."""

    def __init__(self, allocation: Allocation, problem: Problem, time_limit: float, shares: int) -> None:
        from budget_opt.certificate.certify import certify

        self.problem = problem
        self._end = time.perf_counter() + time_limit
        certificate = certify(problem.arrays, allocation.epsilons)
        self.value = certificate.value
        self.bound = certificate.bound
        if not certificate.relative_gap <= _GAP:
            self._tighten(shares)

    @property
    def behind(self) -> float | None:
        """The share of the best value, or of this split's where less is better, that the split may miss."""
        best, least = max(self.value, self.bound), min(self.value, self.bound)
        return (best - least) / best if math.isfinite(best) and best > 0 else None

    def _tighten(self, shares: int) -> None:
        """The bound of a solve made here: what a file states is not relied on."""
        found = self._solved(self.problem, shares)
        if found is not None:
            tighter = max if self.problem.objective in MINIMIZED else min
            self.bound = tighter(self.bound, found.bound)

    def _solved(self, problem: Problem, shares: int) -> Certificate | None:
        """What a solve proves in one of `shares` equal shares of the time that is left."""
        from budget_opt.solvers.answer import Settings
        from budget_opt.solvers.table import solve

        left = (self._end - time.perf_counter()) / max(shares, 1)
        if left <= 0:
            return None
        gap = _GAP if problem.objective == "weighted_sum" else 1e-6
        try:
            return solve(problem.arrays, Settings(gap=gap, time_limit=left)).certificate
        except (InfeasibleError, NotSolvedError):
            return None

    def change(self, changed: Callable[[], Problem], shares: int) -> tuple[float, float] | None:
        """The lowest and highest relative change of the best value; None where none is proved.

        May use one of `shares` equal shares of the time that is left. The changed problem admits the split.
        """
        if not (math.isfinite(self.value) and self.value > 0):
            return None
        try:
            problem = changed()
        except ProblemError:
            # the only floor of `min_epsilon` dropped: nothing but minima is left
            least = float(exact_sum(self.problem.arrays.lower))
            return self._compared(least, least)
        found = self._solved(problem, shares)
        return None if found is None else self._compared(found.value, found.bound)

    def _compared(self, value: float, bound: float) -> tuple[float, float] | None:
        """Both optima lie between the value and the bound of their own problem."""
        if not math.isfinite(bound):
            return None
        if self.problem.objective in MINIMIZED:
            return min(bound / self.value - 1.0, 0.0), min(value / max(self.bound, 1e-300) - 1.0, 0.0)
        return max(value / self.bound - 1.0, 0.0), max(bound / self.value - 1.0, 0.0)


def judged_limits(limits: list[Limit], resolver: Resolver) -> list[Limit]:
    """The limits with what dropping each would change.

    All that the split is not at are dropped together first: where that proves to change nothing, none of them
    does alone.
    """
    idle = [limit for limit in limits if not limit.met]
    together = (
        resolver.change(partial(_without_all, resolver.problem, idle), len(limits) + 1) if idle else None
    )
    nothing = together is not None and max(map(abs, together)) <= NOTHING
    left = len(limits) - (len(idle) if nothing else 0)
    judged = []
    for limit in limits:
        if nothing and not limit.met:
            change = together
        else:
            change = resolver.change(partial(without, resolver.problem, limit), left)
            left -= 1
        lowest, highest = change or (None, None)
        judged.append(replace(limit, lowest_change=lowest, highest_change=highest))
    return judged


def _without_all(problem: Problem, limits: list[Limit]) -> Problem:
    for limit in limits:
        problem = without(problem, limit)
    return problem


def more_total(allocation: Allocation, resolver: Resolver, shares: int) -> MoreTotal | None:
    """One more nat of the total; None where there is no total, or no larger one is admitted."""
    problem = resolver.problem
    total = problem.total_epsilon
    if total is None or problem.objective == "min_epsilon" or total + 1 > LARGEST_EPSILON:
        return None
    raised = float(exact_sum([total, 1.0]))
    change = resolver.change(partial(problem.with_total, raised), shares)
    lowest, highest = change or (None, None)
    return MoreTotal(total, raised, allocation.sensitivity.get("total_epsilon"), lowest, highest)
