"""All methods, one line each, and the one way to call them (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from budget_opt.certificate.certify import Certificate
from budget_opt.errors import InputError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.solvers import convex_method, disciplined, local_method
from budget_opt.solvers.answer import Callback, Candidate, Clock, Settings, Task
from budget_opt.solvers.conflicts.explaining import explain
from budget_opt.solvers.explanation import Names, infeasible, unreleasable
from budget_opt.solvers.feasibility import passes_a_ceiling, unreleased
from budget_opt.solvers.global_search import method as global_method
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
) -> Candidate:
    """The best split found, strictly inside every constraint, and its certificate.

    `callback` sees a Report now and then; `names` are for messages. Raises InfeasibleError where no split is
    possible, proved; NotSolvedError where none was found within the limits; InputError for an unknown
    `settings.solver`. Ctrl-C and the time limit return the best point there is.
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
            epsilon, certificate = method(Task(arrays, settings, clock, callback))
        except convex_method.ImpossibleError:
            limit = min(settings.explanation_limit, max(_SHORTEST, clock.left()))
            raise infeasible(explain(arrays, limit), names or Names.numbered(arrays)) from None
    optimal = certificate.relative_gap <= settings.gap
    return Candidate(epsilon, certificate, "optimal" if optimal else "feasible", name, clock.seconds)


def _chosen(arrays: Arrays, settings: Settings) -> tuple[str, Method]:
    methods = NOT_CONVEX if arrays.objective == "weighted_sum" else CONVEX
    name = settings.solver or next(iter(methods))
    if name not in methods:
        raise InputError(f"solver: is {name!r}, must be one of {', '.join(methods)} for {arrays.objective}.")
    return name, methods[name]
