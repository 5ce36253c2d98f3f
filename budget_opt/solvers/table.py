"""All methods, one line each, and the one way to call them (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.solvers import convex_method, disciplined, local_method
from budget_opt.solvers.answer import Callback, Candidate, Clock, Settings, Status, Task
from budget_opt.solvers.conflicts.explaining import explain
from budget_opt.solvers.explanation import Names, infeasible, unreleasable
from budget_opt.solvers.feasibility import passes_a_ceiling, unreleased
from budget_opt.solvers.global_search import method as global_method
from budget_opt.solvers.global_search import series as in_series
from budget_opt.solvers.global_search.series import Told
from budget_opt.solvers.threads import one_thread

Method = Callable[[Task], tuple[FloatArray, Certificate]]

CONVEX: Mapping[str, Method] = {
    "interior point": convex_method.solve,
    "cvxpy": lambda task: convex_method.solve(task, disciplined.propose),
}
"""For all objectives but `weighted_sum`; the first is the default, the second a reference to compare with."""

NOT_CONVEX: Mapping[str, Method] = {
    "global search": global_method.solve,
    "local search": local_method.solve,
}
"""For `weighted_sum`; the first is the default, and takes at most 60 seconds where no time limit is given."""

_SHORTEST = 1.0
"""Seconds that the explanation of an impossible problem has at the least, whatever the time limit."""


def solve(
    arrays: Arrays,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    callback: Callback | None = None,
    names: Names | None = None,
    starts: Sequence[FloatArray] = (),
) -> Candidate:
    """The best split found, strictly inside every constraint, and its certificate.

    `callback` sees a Report now and then; `names` are for messages; `starts` as in `Task`. Raises
    InfeasibleError where no split is possible, proved; NotSolvedError where none was found within the limits;
    InputError for an unknown `settings.solver`. Ctrl-C and the time limit return the best point there is.
    """
    clock = Clock(settings.time_limit)
    name, method = _chosen(arrays, settings)
    unmeasured = unreleased(arrays)
    if unmeasured.size:
        raise unreleasable(unmeasured, names or Names.numbered(arrays))
    with one_thread():
        try:
            if arrays.ceilings.size and passes_a_ceiling(arrays):
                raise convex_method.ImpossibleError
            epsilon, certificate = method(Task(arrays, settings, clock, callback, starts))
        except convex_method.ImpossibleError:
            raise _explained(arrays, settings, clock, names) from None
    optimal = certificate.relative_gap <= settings.gap
    status: Status = "optimal" if optimal else "feasible"
    return Candidate(epsilon, certificate, status, name, clock.seconds, clock.interrupted)


def solve_quickly(
    arrays: Arrays,
    starts: Sequence[FloatArray],
    steps: int,
    names: Names | None = None,
    limit: float | None = None,
) -> Candidate:
    """A good split of a weighted sum near the starts, and a bound after so many steps: valid, and loose.

    At the `limit`, in seconds, the best split so far is the answer. Raises as `solve` does.
    """
    clock = Clock(limit)
    left = iter(range(steps))
    with one_thread():
        try:
            if passes_a_ceiling(arrays):
                raise convex_method.ImpossibleError
            task = Task(arrays, Settings(), clock, starts=starts)
            epsilon = local_method.split_found(task, random_starts=None)
        except convex_method.ImpossibleError:
            raise _explained(arrays, Settings(explanation_limit=0.0), clock, names) from None
        certificate = certify(arrays, epsilon, proceed=lambda: next(left, None) is not None)
    return Candidate(epsilon, certificate, "feasible", "local search", clock.seconds, clock.interrupted)


def solve_series(
    series: Sequence[Arrays], settings: Settings, clock: Clock, told: Told, names: Names | None = None
) -> list[Candidate | InfeasibleError | NotSolvedError | None]:
    """The best split of one weighted sum under each of several totals, in increasing order.

    What one of them has found helps the next to begin, and their bounds are proved side by side. None where
    the clock's limit or Ctrl-C came before a point had a split.
    """
    found: list[Candidate | InfeasibleError | NotSolvedError | None] = []
    ends = [0.0] * len(series)

    def heard(k: int, value: float, bound: float, ended: bool) -> None:
        ends[k] = clock.seconds
        told(k, value, bound, ended)

    with one_thread():
        tasks = [Task(arrays, settings, clock) for arrays in series]
        for k, outcome in enumerate(in_series.solve(tasks, heard)):
            if isinstance(outcome, tuple):
                epsilon, certificate = outcome
                status: Status = "optimal" if certificate.relative_gap <= settings.gap else "feasible"
                found.append(Candidate(epsilon, certificate, status, "global search", ends[k]))
            elif isinstance(outcome, convex_method.ImpossibleError):
                found.append(_explained(series[k], settings, clock, names))
            else:
                found.append(outcome)
    return found


def _explained(arrays: Arrays, settings: Settings, clock: Clock, names: Names | None) -> InfeasibleError:
    limit = min(settings.explanation_limit, max(_SHORTEST, clock.left()))
    return infeasible(explain(arrays, limit), names or Names.numbered(arrays))


def _chosen(arrays: Arrays, settings: Settings) -> tuple[str, Method]:
    methods = NOT_CONVEX if arrays.objective == "weighted_sum" else CONVEX
    name = settings.solver or next(iter(methods))
    if name not in methods:
        raise InputError(f"solver: is {name!r}, must be one of {', '.join(methods)} for {arrays.objective}.")
    return name, methods[name]
