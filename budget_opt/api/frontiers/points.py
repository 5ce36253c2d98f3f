"""The answers along an axis: in step where they are one weighted sum under many totals, else one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from budget_opt.api.frontiers.axis import Axis
from budget_opt.api.frontiers.splits import LEVEL_TOLERANCE, Found
from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.solvers.answer import Clock

_EXPLAINED = 0.0
"""Seconds for the explanation of an impossible point, beside single solves."""
End = Literal["complete", "time limit", "interrupted"]
"""Whether all values have their answer, and what ended the work early where not."""
Told = Callable[[int, float, float | None, float], None]
"""Hears how many points have ended, a point, its value, and the seconds so far."""
Answer = Found | InfeasibleError | NotSolvedError


@dataclass(frozen=True)
class Ask:
    """Values of an axis, the gap that is asked for, seconds for all of them, and who hears of progress."""

    axis: Axis
    values: Sequence[float]
    gap: float
    time_limit: float | None
    told: Told

    @property
    def in_step(self) -> bool:
        """True where the points are one weighted sum of one level under several totals."""
        problem = self.axis.problem
        weighted = problem.objective == "weighted_sum" and len(problem.levels) <= 1
        return weighted and self.axis.kind == "total_epsilon"

    @property
    def nested(self) -> Sequence[float]:
        """The values from the smallest set of splits to the largest; none where the sets are not nested."""
        if not self.axis.nested:
            return ()
        return self.values if self.axis.kind == "total_epsilon" else self.values[::-1]


def solve_points(ask: Ask) -> tuple[dict[float, Answer], End]:
    """The answers that were found, by value, and how it ended."""
    if not ask.values:
        return {}, "complete"
    if ask.axis.kind == "n":
        one, end = _one_by_one(replace(ask, values=ask.values[:1]))
        return {value: answer for answer in one.values() for value in ask.values}, end
    answers, end = _in_step(ask) if ask.in_step else _one_by_one(ask)
    return _consistent(ask, answers), end


def _end(clock: Clock) -> End:
    if clock.interrupted:
        return "interrupted"
    return "complete" if clock.left() > 0 else "time limit"


def _in_step(ask: Ask) -> tuple[dict[float, Answer], End]:
    from budget_opt.solvers.answer import Clock, Settings
    from budget_opt.solvers.global_search.method import DEFAULT_LIMIT
    from budget_opt.solvers.table import solve_series

    clock = Clock(ask.time_limit or DEFAULT_LIMIT * len(ask.values))
    ended: set[int] = set()

    def told(k: int, value: float, bound: float, has_ended: bool) -> None:
        del bound
        if has_ended:
            ended.add(k)
        ask.told(len(ended), ask.values[k], value, clock.seconds)

    series = [ask.axis.problem_at(value).arrays for value in ask.values]
    found = solve_series(series, Settings(gap=ask.gap, explanation_limit=_EXPLAINED), clock, told)
    answers: dict[float, Answer] = {}
    for value, outcome in zip(ask.values, found, strict=True):
        if isinstance(outcome, InfeasibleError | NotSolvedError):
            answers[value] = outcome
        elif outcome is not None:
            answers[value] = Found(outcome)
    return answers, _end(clock)


def _one_by_one(ask: Ask) -> tuple[dict[float, Answer], End]:
    from budget_opt.api.solving import found
    from budget_opt.solvers.answer import Clock, Report, Settings

    clock = Clock(ask.time_limit)
    answers: dict[float, Answer] = {}
    starts: tuple[FloatArray, ...] = ()
    with clock.ending_early():
        for value in ask.values:
            clock.check()

            def heard(report: Report, value: float = value) -> None:
                ask.told(len(answers), value, report.value, clock.seconds)

            left = clock.left()
            limit = left if math.isfinite(left) else None
            settings = Settings(gap=ask.gap, time_limit=limit, explanation_limit=_EXPLAINED)
            try:
                problem = ask.axis.problem_at(value)
                candidate, bounds = found(problem, settings, heard, LEVEL_TOLERANCE, starts)
            except (InfeasibleError, NotSolvedError) as failure:
                if isinstance(failure, NotSolvedError):
                    # without time to look nothing is said of a point
                    clock.check()
                answers[value] = failure
                ask.told(len(answers), value, None, clock.seconds)
                continue
            answers[value] = only_found = Found(candidate, bounds)  # kept, should Ctrl-C come now
            answers[value] = _made(only_found, problem, ask.gap)
            clock.interrupted = candidate.interrupted
            starts = (candidate.epsilon,)
            ask.told(len(answers), value, candidate.certificate.value, clock.seconds)
    return answers, _end(clock)


def _made(found: Found, problem: Problem, gap: float) -> Found:
    """The answer with its allocation, so that there is nothing left to do after Ctrl-C."""
    try:
        return replace(found, made=found.allocation(problem, gap))
    except NotSolvedError:
        # what it proves about other points remains, and one of them may have a split for it
        return found


def _consistent(ask: Ask, answers: dict[float, Answer]) -> dict[float, Answer]:
    """The answers with what they prove about each other."""
    from budget_opt.api.frontiers.nested import consistent

    order = [value for value in ask.nested if isinstance(answers.get(value), Found)]
    known = [answer for value in order if isinstance(answer := answers[value], Found)]
    better = consistent(ask.axis.problem.objective, [one.candidate for one in known], ask.gap)
    proved = [one.better(candidate) for one, candidate in zip(known, better, strict=True)]
    return {**answers, **dict(zip(order, proved, strict=True))}
