"""What is hard or impossible in a problem, said before anything is solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.problem import Problem

HOPELESS = 0.01
"""A moment that keeps less than this even with the whole total for itself is called hopeless."""


@dataclass(frozen=True)
class Findings:
    """A feasible problem in numbers, and what in it deserves a second thought.

    `least_total` (nats) is what floors, pins and minima need, None where they need nothing.
    """

    name: str
    attributes: int
    moments: int
    floors: int
    total_epsilon: float | None
    least_total: float | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The findings as JSON; an infeasible problem has none, it raises."""
        return {"feasible": True, **vars(self), "warnings": list(self.warnings)}

    def __str__(self) -> str:
        total = "no total" if self.total_epsilon is None else f"total epsilon {self.total_epsilon:g}"
        numbers = {"attribute": self.attributes, "moment": self.moments, "floor": self.floors}
        counted = ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in numbers.items())
        counts = f"{counted}, {total}"
        lines = [f"{self.name or 'problem'}: {counts}"]
        if self.least_total is not None:
            lines.append(
                f"feasible: the least total that meets floors, pins and minima is {self.least_total:.6g}"
            )
        else:
            lines.append("feasible: no floor, pin or minimum needs anything")
        return "\n".join([*lines, *(f"note: {warning}" for warning in self.warnings)])


def check(problem: Problem) -> Findings:
    """Say what a problem asks for and what is hard in it; raises `InfeasibleError` where it is impossible."""
    return Findings(
        name=problem.name,
        attributes=len(problem.attributes),
        moments=len(problem.moments),
        floors=int(problem.arrays.floors.size),
        total_epsilon=problem.total_epsilon,
        least_total=_least_total(problem),
        warnings=(*_unused(problem), *_hopeless(problem), *_without_scores(problem), *_not_public(problem)),
    )


def _least_total(problem: Problem) -> float | None:
    """What floors, pins and minima need together, under all groups and bounds; ceilings are checked alone."""
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.explanation import Names, ceiling_infeasible
    from budget_opt.solvers.feasibility import passed_ceilings
    from budget_opt.solvers.table import solve

    arrays = problem.arrays
    names = Names(problem.names, [moment.label for moment in problem.moments])
    passed = passed_ceilings(arrays)
    if passed:
        raise ceiling_infeasible(arrays, passed, names)
    if arrays.floors.size == 0:
        return float(arrays.lower.sum()) or None
    least = replace(arrays, objective="min_epsilon", log_ceiling=np.zeros(arrays.moments))
    return solve(least, Settings(), None, names).certificate.value


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
