"""`bo.frontier`: the best splits as one number of the problem is varied."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import (
    as_list,
    require,
    require_gap,
    require_listener,
    require_number,
    require_sums,
)
from budget_opt.api.frontiers.axis import Axis, axis_of
from budget_opt.api.frontiers.frontier import Frontier, FrontierPoint
from budget_opt.api.frontiers.points import Answer, Ask, solve_points
from budget_opt.api.frontiers.reach import reach_of
from budget_opt.api.frontiers.splits import Found
from budget_opt.api.frontiers.support import support_changes
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError
from budget_opt.model.problem import Problem


@dataclass(frozen=True)
class FrontierProgress:
    """`done` of `points` have their answer; `value` is that of the point `at`, after so many `seconds`."""

    done: int
    points: int
    at: float
    value: float | None
    seconds: float


def frontier(  # noqa: PLR0913 (each a word that users type)
    problem: Problem,
    total_epsilon: Sequence[float] | None = None,
    *,
    moment: Sequence[str] | None = None,
    weight: Sequence[float] | None = None,
    floor: Sequence[float] | None = None,
    n: float | Sequence[float] | None = None,
    gap: float = 1e-3,
    time_limit: float | None = None,
    progress: Callable[[FrontierProgress], None] | None = None,
) -> Frontier:
    """The best split at every value of one number of the problem, each with its value, bound and gap.

    Varied is the total (nats), or the `weight` or `floor` of the `moment` of these attributes (a floor of 0
    is none), or the number of records `n`, on which no split depends: its points share one, and differ in the
    errors that `plan` expects. A single n beside another axis adds those errors to every point. Values may
    come in any order; the points have them in increasing order, each once.

    `gap` is the relative gap at which a point is optimal (1e-12 to 1). Points that the constraints make
    impossible say why; `feasible_from` is where they end. `time_limit` in seconds is for all points
    together; without one a `weighted_sum` has 60 for every point. At the limit and at Ctrl-C what is done is
    kept, and `complete` is False. `progress` hears how many points are done.

    With a larger total, or a lower floor, the value that is stated is never worse: a better split of another
    point, and a tighter bound, count wherever they hold. Raises `InputError` for an argument
    outside its range.
    """
    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    require_sums(problem, "frontier")
    require_listener(progress, "a FrontierProgress")
    records, varied_n = _records(n, total_epsilon, weight, floor)
    axis = axis_of(
        problem, total_epsilon=total_epsilon, moment=moment, weight=weight, floor=floor, n=varied_n
    )
    gap, time_limit = _limits(gap, time_limit)
    reach = reach_of(axis)
    why = {value: reach.why_not(value) for value in axis.values}
    open_values = [value for value in axis.values if why[value] is None]

    def told(ended: int, at: float, value: float | None, seconds: float) -> None:
        if progress is not None:
            done = len(axis.values) - len(open_values) + ended
            progress(FrontierProgress(done, len(axis.values), at, value, seconds))

    answers, end = solve_points(Ask(axis, open_values, gap, time_limit, told))
    impossible = {value: failure for value, failure in why.items() if failure is not None}
    points, unbroken = _points(axis, {**answers, **impossible}, gap)
    return Frontier(
        problem=problem,
        varied=axis.varied,
        points=points,
        complete=end == "complete" and unbroken,
        feasible_from=reach.end,
        support_changes=support_changes(points),
        n=records,
        interrupted=end == "interrupted" or not unbroken,
    )


def _records(n: float | Sequence[float] | None, *others: object) -> tuple[int | None, Sequence[float] | None]:
    """A single n beside another axis, or the values of the axis n."""
    from budget_opt.api.planning import require_rows

    if n is None:
        return None, None
    values = as_list(n)
    if values is not None:
        return None, values
    records = require_rows(n)
    return (records, None) if any(other is not None for other in others) else (None, (records,))


def _limits(gap: float, time_limit: float | None) -> tuple[float, float | None]:
    gap = require_gap(gap)
    if time_limit is not None:
        time_limit = require_number(time_limit, "time_limit")
        if not 0 < time_limit < math.inf:
            raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds, or None.")
    return gap, time_limit


def _points(
    axis: Axis, answers: Mapping[float, Answer], gap: float
) -> tuple[tuple[FrontierPoint, ...], bool]:
    """The points that have an answer, in order; False where Ctrl-C ended them."""
    points: list[FrontierPoint] = []
    before: Allocation | None = None
    unbroken = True
    try:
        for value in sorted(answers, reverse=axis.kind == "floor"):
            answer = answers[value]
            if not isinstance(answer, Found):
                points.append(FrontierPoint(value, None, answer))
                continue
            try:
                if before is None or axis.kind != "n":
                    better = before if axis.nested else None
                    before = answer.never_worse(axis.problem_at(value), gap, better)
                points.append(FrontierPoint(value, before))
            except (InfeasibleError, NotSolvedError) as failure:
                points.append(FrontierPoint(value, None, failure))
    except KeyboardInterrupt:
        unbroken = False
    return tuple(sorted(points, key=lambda point: point.at)), unbroken
