"""Why a split is as it is, and what each limit of its problem costs, in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.allocation import Allocation, allocation_from
from budget_opt.api.arguments import require, require_number, require_split_of_sums
from budget_opt.api.explanation.limits import (
    Limit,
    MoreTotal,
    Resolver,
    judged_limits,
    more_total,
    stated_limits,
)
from budget_opt.api.explanation.parts import Part, holding_the_minimum, parts_of
from budget_opt.api.explanation.words import (
    Exchange,
    budget_sentences,
    exchange_sentence,
    limit_sentences,
    minimum_sentence,
    total_sentence,
)
from budget_opt.api.splits import Broken, broken_constraints, question_of
from budget_opt.api.wording import share
from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import log_retentions
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

OPTIMAL = 2e-4
"""A split behind the best by no more is called the best: weighted sums are solved anew to half of it."""
_WITH_DELTA = (
    "Leave explain out: show has its figures, verify with the problem computes its bound again. To see where "
    "a budget goes, solve the problem without total_delta and explain that split."
)
_ROUNDING = 1e-6
"""Share of a total that a solver may leave over."""
_MOVED = 0.1
"""Nats, or a hundredth of what is spent where that is less, of a move that betters a split."""


@dataclass(frozen=True)
class Explanation(Rows):
    """Sentences about a split and the numbers behind them; one row a limit.

    Changes are of the best value and proved: by an optimum with its bound, or by the search's bound. `parts`
    say what each attribute or cluster has and what needs it; `limits` what dropping each would bring;
    `more_total` what one more nat would. `deciding` are the moments that hold the minimum of `max_min`. For a
    split that no solver made, `broken` says what it does not keep, `exchange` what would better it, and the
    limits have neither prices nor changes. `behind` is the share of the best value that the split may miss,
    by a bound computed here, whatever the allocation states. All is about the first level where there are
    several.
    """

    allocation: Allocation
    parts: tuple[Part, ...]
    limits: tuple[Limit, ...]
    more_total: MoreTotal | None
    deciding: tuple[str, ...]
    broken: tuple[Broken, ...]
    exchange: Exchange | None
    level: int | None
    behind: float | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The explanation in words, a sentence each."""
        outcome = self.allocation.objective
        found = []
        if self.level is not None:
            found.append(f"All of this is about level {self.level}, the first level of moments.")
        found += budget_sentences(self.parts, outcome.kind, optimal=self.optimal, unspent=self._unspent)
        found += minimum_sentence(self.deciding, outcome.value)
        if outcome.bound is None:
            found.append("The split was given, not optimized: its limits have no prices.")
            found += [f"Broken: {broken}." for broken in self.broken]
            found += exchange_sentence(self.exchange, outcome.kind)
            return tuple(found)
        if not self.optimal and self.behind is not None:
            found.append(f"This split may be up to {share(self.behind, 'up')} behind the best.")
        found += total_sentence(self.more_total, outcome.kind)
        found += limit_sentences(self.limits, outcome.kind)
        return tuple(found)

    @property
    def _unspent(self) -> float:
        """Nats of the total that are left, 0 where that is a solver's rounding."""
        total = self.allocation.total_epsilon
        if total is None or self.allocation.objective.kind == "min_epsilon":
            return 0.0
        left = float(exact(total) - exact(self.allocation.spent_epsilon))
        return left if left > _ROUNDING * total else 0.0

    @property
    def optimal(self) -> bool:
        """True where this explanation has itself proved the split to be as good as the best."""
        return self.behind is not None and self.behind <= OPTIMAL

    def rows(self) -> list[dict[str, Any]]:
        """A row a limit: its number, what the split has, price, and what dropping it changes."""
        columns = [name for name in Limit.__dataclass_fields__ if name != "attributes"]
        return [{name: getattr(limit, name) for name in columns} for limit in self.limits]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "objective": self.allocation.objective.kind,
            "value": self.allocation.objective.value,
            "level": self.level,
            "behind": self.behind,
            "sentences": list(self.sentences),
            "parts": [_plain(part) for part in self.parts],
            "limits": self.rows(),
            "more_total": None if self.more_total is None else dict(vars(self.more_total)),
            "deciding": list(self.deciding),
            "broken": [dict(vars(broken)) for broken in self.broken],
            "exchange": None if self.exchange is None else _plain(self.exchange),
        }

    def renderable(self) -> RenderableType:
        """The sentences for a rich console."""
        from rich.console import Group
        from rich.text import Text

        return Group(*(Text(sentence) for sentence in self.sentences))

    def __str__(self) -> str:
        from budget_opt.tables.printing import plain_text

        return plain_text(self.renderable())


def _plain(thing: Part | Exchange) -> dict[str, Any]:
    """Its fields as JSON."""
    fields = {name: one for name, one in vars(thing).items() if name != "members" or one}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in fields.items()}


def explain(
    allocation: Allocation, problem: Problem | None = None, *, time_limit: float = 10.0
) -> Explanation:
    """Where the budget goes and why, what one more nat is worth, and what each limit costs.

    What dropping a floor, ceiling, group, pin or bound would bring is proved by solving the problem without
    it, within `time_limit` (seconds) for all: at once for a convex objective; a `weighted_sum` may leave a
    range, or some unshown. An allocation that was read from a file needs its `problem` where that has pins or
    bounds, which no file carries. Raises `InputError` for another problem.
    """
    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    time_limit = require_number(time_limit, "time_limit")
    if not 0 < time_limit < math.inf:
        raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds.")
    asked = question_of(allocation, problem)
    require_split_of_sums(asked, "explain", _WITH_DELTA)
    level = asked.levels[0] if len(asked.levels) > 1 else None
    first = _of_level(asked, level)
    limits, more, behind = tuple(stated_limits(allocation, asked)), None, None
    given = allocation.objective.bound is None
    if not given:
        resolver = Resolver(allocation, first, time_limit, len(limits) + 3)
        behind = resolver.behind
        more = more_total(allocation, resolver, len(limits) + 2)
        limits = tuple(judged_limits(list(limits), resolver))
    return Explanation(
        allocation=allocation,
        parts=parts_of(allocation, first),
        limits=limits,
        more_total=more,
        deciding=_deciding(allocation, first),
        broken=broken_constraints(allocation, asked) if given else (),
        exchange=_exchange(allocation, first) if given else None,
        level=level,
        behind=behind,
    )


def _of_level(problem: Problem, level: int | None) -> Problem:
    """The problem with the weights of one level alone."""
    if level is None:
        return problem
    return problem.with_fields(
        moments=[
            moment if moment.level == level else moment.with_fields(weight=0.0) for moment in problem.moments
        ]
    )


def _deciding(allocation: Allocation, problem: Problem) -> tuple[str, ...]:
    if problem.objective != "max_min" or not np.any(problem.arrays.weight > 0):
        return ()
    held = holding_the_minimum(problem.arrays, allocation.epsilons)
    return tuple(problem.moments[k].label for k in held)


def _exchange(allocation: Allocation, problem: Problem) -> Exchange | None:
    """The small move between two blocks that betters the objective most and breaks nothing more."""
    arrays, epsilon = problem.arrays, allocation.epsilons
    step = float(f"{min(_MOVED, 0.01 * float(np.sum(epsilon))):.1g}")
    before = objective_value(arrays, epsilon)
    sign = -1.0 if problem.objective in MINIMIZED else 1.0
    if problem.objective == "min_epsilon" or not (math.isfinite(before) and before > 0 and step > 0):
        return None
    kept = log_retentions(arrays, epsilon)
    groups = [budget.members for budget in arrays.budgets]
    best: Exchange | None = None
    for i in np.flatnonzero(epsilon - step >= arrays.lower):
        for j in np.flatnonzero(epsilon + step <= arrays.stated_upper):
            moved = epsilon.copy()
            moved[i] -= step
            moved[j] += step
            after = objective_value(arrays, moved)
            after_kept = log_retentions(arrays, moved)
            breaks = (after_kept < arrays.log_floor) & (after_kept < kept)
            breaks |= (after_kept > arrays.log_ceiling) & (arrays.log_ceiling < 0) & (after_kept > kept)
            crosses = any(j in members and i not in members for members in groups)
            better = sign * after > sign * (before if best is None else best.after) * (1 + 1e-4 * sign)
            if i != j and better and not crosses and not breaks.any():
                names = problem.block_names
                best = Exchange(names[i], names[j], step, before, after)
    return best if best is None else _with_what_stays(best, allocation, problem)


def _with_what_stays(move: Exchange, allocation: Allocation, problem: Problem) -> Exchange:
    """The move with the constraints that it leaves broken."""
    moved = {one.name: one.epsilon for one in allocation.blocks}
    # in decimals: a double next to a decimal would pass a budget by a hair
    moved[move.giver] = float(exact(moved[move.giver]) - exact(move.step))
    moved[move.taker] = float(exact(moved[move.taker]) + exact(move.step))
    broken = broken_constraints(allocation_from(problem, moved), problem)
    return replace(move, still_broken=tuple(one.constraint for one in broken))
