"""What is hard or impossible in a problem, said before anything is solved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from budget_opt.api.arguments import require_number
from budget_opt.errors import InfeasibleError, InputError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.problem import Problem

HOPELESS = 0.01
"""A moment that keeps less than this even with the whole total for itself is called hopeless."""


@dataclass(frozen=True)
class Findings:
    """A problem in numbers, whether it is possible, and what in it deserves a second thought.

    `least_total` (nats) is a total that floors, pins and minima fit in, None where they need nothing or
    where none is known. `impossible` says why no split meets the problem; None where one does.
    """

    name: str
    attributes: int
    moments: int
    floors: int
    total_epsilon: float | None
    least_total: float | None
    warnings: tuple[str, ...]
    impossible: InfeasibleError | None = None

    @property
    def feasible(self) -> bool:
        """True where a split meets everything, which is proved by one."""
        return self.impossible is None

    def to_dict(self) -> dict[str, Any]:
        """The findings as JSON; `infeasibility` holds the message and `errors.Infeasibility`."""
        plain = {**vars(self), "feasible": self.feasible, "warnings": list(self.warnings)}
        failure = plain.pop("impossible")
        plain["infeasibility"] = failure and {"message": str(failure), **failure.why.to_dict()}
        return plain

    def __str__(self) -> str:
        total = "no total" if self.total_epsilon is None else f"total epsilon {self.total_epsilon:g}"
        numbers = {"attribute": self.attributes, "moment": self.moments, "floor": self.floors}
        counted = ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in numbers.items())
        counts = f"{counted}, {total}"
        lines = [f"{self.name or 'problem'}: {counts}", self._verdict()]
        return "\n".join([*lines, *(f"note: {warning}" for warning in self.warnings)])

    def _verdict(self) -> str:
        if self.impossible is not None:
            return f"infeasible: {self.impossible}"
        if self.least_total is None:
            return "feasible: no floor, pin or minimum needs anything"
        return f"feasible: the least total that meets floors, pins and minima is {self.least_total:.6g}"


def check(problem: Problem, time_limit: float | None = None) -> Findings:
    """Say what a problem asks for, what is hard in it, and why it is impossible where it is.

    `time_limit` in seconds is for the explanation of an impossible problem, None for 5: what it does not
    reach is told as "not shown irreducible", or as a range. Raises `NotSolvedError` where the floors leave so
    little room that possible and impossible cannot be told apart.
    """
    if time_limit is not None:
        require_number(time_limit, "time_limit")
        if not 0 <= time_limit < math.inf:
            raise InputError(f"time_limit: is {time_limit!r}, must be a number of seconds from 0, or None.")
    least, impossible = None, None
    try:
        least = _least_total(problem, time_limit)
    except InfeasibleError as failure:
        least, impossible = failure.least_total, failure
    return Findings(
        name=problem.name,
        attributes=len(problem.attributes),
        moments=len(problem.moments),
        floors=int(problem.arrays.floors.size),
        total_epsilon=problem.total_epsilon,
        least_total=least,
        warnings=(*_unused(problem), *_hopeless(problem), *_without_scores(problem), *_not_public(problem)),
        impossible=impossible,
    )


def _least_total(problem: Problem, time_limit: float | None) -> float | None:
    """What everything that the problem demands needs together."""
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.explanation import Names, unreleasable
    from budget_opt.solvers.feasibility import passes_a_ceiling, unreleased
    from budget_opt.solvers.table import solve

    arrays = problem.arrays
    names = Names(problem.names, [moment.label for moment in problem.moments])
    if unreleased(arrays).size:
        raise unreleasable(unreleased(arrays), names)
    if arrays.floors.size == 0 and not passes_a_ceiling(arrays):
        return float(arrays.lower.sum()) or None
    least = replace(arrays, objective="min_epsilon")
    settings = Settings() if time_limit is None else Settings(explanation_limit=time_limit)
    return solve(least, settings, None, names).certificate.value


def _unused(problem: Problem) -> list[str]:
    """Attributes that no moment mentions get their minimum."""
    used = {name for moment in problem.moments for name in moment.attributes}
    return [
        f"{attribute.name} is in no moment: it gets its minimum, {attribute.lower:g}; with 0 it is left out"
        for attribute in problem.attributes
        if attribute.name not in used and attribute.epsilon is None
    ]


def _hopeless(problem: Problem) -> list[str]:
    """Moments that cannot keep much however the budget is split."""
    arrays = problem.arrays
    alone = rr.log_retention(np.where(np.isfinite(arrays.upper), arrays.upper, 1e4), arrays.cardinality)
    best = np.exp(arrays.incidence @ alone)
    return [
        f"{moment.label} keeps at most {100 * kept:.2g} % of its value under this total: "
        "fewer categories or a larger total would help"
        for moment, kept in zip(problem.moments, best, strict=True)
        if kept < HOPELESS
    ]


def _without_scores(problem: Problem) -> list[str]:
    """Moments whose estimation will need scores that the problem does not state."""
    nominal = {attribute.name for attribute in problem.attributes if attribute.score_values is None}
    return [
        f"{moment.label}: {', '.join(name for name in moment.attributes if name in nominal)} has categories "
        "without order or scores: state scores here, or give some to estimate"
        for moment in problem.moments
        if nominal & set(moment.attributes)
    ]


def _not_public(problem: Problem) -> list[str]:
    if not problem.not_public:
        return []
    return [
        f"provenance: the guarantee assumes that {', '.join(problem.not_public)} do not depend on the data"
    ]
