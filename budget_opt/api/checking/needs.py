"""The least total that everything a problem demands needs together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from budget_opt.api.wording import listed
from budget_opt.mechanisms.exact import exact_sum, float_at_least
from budget_opt.model.problem import Problem


@dataclass(frozen=True)
class Need:
    """A `total` (nats) that floors, pins, minima and ceilings fit in; with less than `bound` they do not."""

    total: float
    bound: float


def possible_end(number: float, *, largest: bool = False) -> float:
    """A `number` of digits for people from which on everything is possible, or up to which (`largest`).

    Rounded to the side that is possible: what is typed in as it is printed suffices.
    """
    from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up

    return rounded_down(number) if largest else rounded_up(number)


def at_least(bound: float, given: float) -> str:
    """A proved `bound` in words, never above itself, and with the digits that tell it from `given` below."""
    from budget_opt.solvers.conflicts.rounding import rounded_down

    told = (down for digits in range(4, 18) if (down := rounded_down(bound, digits)) > given)
    least = next(told, None)
    return f"a hair more than {given:.12g}" if least is None else f"at least {least:.12g}"


def demanding(problem: Problem) -> str:
    """What of the problem needs epsilon, in words: floors, pins and distortion_max."""
    attributes, moments = problem.attributes, problem.moments
    kinds = {
        "floors": any(moment.floor is not None for moment in moments),
        "pins": any(attribute.pin is not None for attribute in attributes),
        "minima": any(attribute.pin is None and attribute.lower > 0 for attribute in attributes),
        "distortion_max": any(attribute.distortion_max is not None for attribute in attributes),
    }
    return listed([kind for kind, stated in kinds.items() if stated]) or "all constraints"


def least_need(problem: Problem, explanation_limit: float | None = None) -> Need:
    """What floors, pins, minima and ceilings need, whatever the objective.

    `explanation_limit` in seconds, None for the default, is for why they do not fit. Raises
    `InfeasibleError` where the problem's budgets do not allow what it needs, `NotSolvedError` where floors
    leave too little room to tell.
    """
    from budget_opt.solvers.answer import Settings
    from budget_opt.solvers.explanation import Names, unreleasable
    from budget_opt.solvers.feasibility import passes_a_ceiling, unreleased
    from budget_opt.solvers.table import solve

    arrays = problem.arrays
    names = Names.of_problem(problem)
    if unreleased(arrays).size:
        raise unreleasable(unreleased(arrays), names)
    if arrays.floors.size == 0 and not passes_a_ceiling(arrays):
        least = float_at_least(exact_sum(arrays.lower))
        return Need(least, least)
    settings = Settings() if explanation_limit is None else Settings(explanation_limit=explanation_limit)
    certificate = solve(replace(arrays, objective="min_epsilon"), settings, None, names).certificate
    return Need(certificate.value, certificate.bound)
