"""The best split of one alternative: what the time allows, and never worse than what is known already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation
from budget_opt.allocation.rounding import even
from budget_opt.api.solving import found, kept, with_level_bounds
from budget_opt.certificate.certify import Certificate, certify
from budget_opt.certificate.convex import in_objective_unit
from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.model.arrays import MINIMIZED, Arrays, FloatArray
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem
from budget_opt.solvers.answer import Candidate, Settings

if TYPE_CHECKING:
    from budget_opt.solvers.partitions.trying import Tried

LEVEL_TOLERANCE = 1e-3
"""By which a level of moments may stay behind for the later ones, as in `solve`."""
_EXPLAINED = 5.0
"""Seconds for the explanation of an impossible problem, as in `solve`; no more than a time limit."""
_SHORTEST = 0.05
"""Seconds for a solve where there is no split yet."""
_SAME = 1e-9
"""Relative: what is better by no more does not take the place of a solver's answer."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The gap asked for, the seconds of a solve (None: no limit; at most 0: none), and what is known."""

    gap: float
    time_limit: float | None
    known: Tried | None = None


@dataclass(frozen=True, eq=False)
class _Answer:
    """A split with its bound, before it is rounded, and the bounds of the levels where it has several."""

    candidate: Candidate
    level_bounds: tuple[float | None, ...] = ()


def best_allocation(problem: Problem, terms: Terms) -> Allocation:
    """The best of a solver's split, the one known, and the even one, with the tightest bound of all.

    A weighted sum with a time limit is solved from the split that is known. Raises as `solve` does where none
    of them keeps all constraints.
    """
    failure: InfeasibleError | NotSolvedError | None = None
    answers: list[_Answer] = []
    known = None if terms.known is None else terms.known.epsilon
    if known is None or terms.time_limit is None or terms.time_limit > 0:
        try:
            answers.append(_solved(problem, terms, known))
        except (InfeasibleError, NotSolvedError) as raised:
            failure = raised
    if not isinstance(failure, InfeasibleError):
        answers += _others(problem, terms, [one.candidate.certificate.bound for one in answers])
    for answer in _best_first(problem, answers):
        try:
            allocation = kept(problem, answer.candidate, terms.gap, _enough(problem, terms))
        except NotSolvedError as raised:
            failure = failure or raised
            continue
        bounds = answer.level_bounds or tuple(level.bound for level in allocation.levels)
        return with_level_bounds(allocation, bounds)
    assert failure is not None
    raise failure


def _solved(problem: Problem, terms: Terms, known: FloatArray | None) -> _Answer:
    limit, explained, starts = None, _EXPLAINED, []
    if terms.time_limit is not None:
        limit = max(terms.time_limit, _SHORTEST)
        explained, starts = min(limit, _EXPLAINED), [] if known is None else [known]
    settings = Settings(terms.gap, limit, explanation_limit=explained)
    candidate, bounds = found(problem, settings, None, LEVEL_TOLERANCE, starts)
    return _Answer(candidate, bounds)


def _others(problem: Problem, terms: Terms, bounds: list[float]) -> list[_Answer]:
    """The known split and the even one, where they are within the bounds of a solver's."""
    arrays, tried = problem.arrays, terms.known
    splits = [("even split", even(arrays))]
    if tried is not None and tried.epsilon is not None:
        splits.insert(0, ("search for clusters", tried.epsilon))
        bounds = [*bounds, in_objective_unit(arrays, tried.bound)]
    if not bounds or bounds == [float("inf")]:
        bounds = [*bounds, certify(arrays, splits[0][1], proceed=lambda: False).bound]
    tightest = max(bounds) if arrays.objective in MINIMIZED else min(bounds)
    return [_Answer(_candidate(arrays, epsilon, tightest, name)) for name, epsilon in splits]


def _candidate(arrays: Arrays, epsilon: FloatArray, bound: float, name: str) -> Candidate:
    attained = objective_value(arrays, epsilon)
    bound = min(bound, attained) if arrays.objective in MINIMIZED else max(bound, attained)
    certificate = Certificate(attained, bound, relative_gap(attained, bound), None)
    return Candidate(epsilon, certificate, "feasible", name, 0.0)


def _best_first(problem: Problem, answers: list[_Answer]) -> list[_Answer]:
    """The best first; the solver's where another is hardly better."""
    sign = -1.0 if problem.objective in MINIMIZED else 1.0
    values = [sign * one.candidate.certificate.value for one in answers]
    same = LEVEL_TOLERANCE if len(problem.levels) > 1 else _SAME
    ranks = [value + (same * abs(value) if n == 0 else 0.0) for n, value in enumerate(values)]
    order = sorted(range(len(answers)), key=lambda n: -ranks[n])
    return [answers[n] for n in order]


def _enough(problem: Problem, terms: Terms) -> float:
    """The gap that counts as optimal."""
    return LEVEL_TOLERANCE if len(problem.levels) > 1 else terms.gap
