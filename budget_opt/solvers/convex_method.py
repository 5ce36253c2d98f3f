"""From a convex problem to a certified candidate: presolve, a point inside the floors, the solve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.certificate.convex import Frame, in_objective_unit
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers.answer import Clock, OutOfTimeError, Settings, Task
from budget_opt.solvers.convex import ACCEPTED, Progress, improve
from budget_opt.solvers.evening import evened
from budget_opt.solvers.phase_one import LEAST_MARGIN, Margin, margin, strictly_inside, towards
from budget_opt.solvers.reduction import CEILING_MARGIN, Reduction, inner_start, reduce
from budget_opt.solvers.threads import one_thread

Method = Callable[[Progress, Task], None]
"""Offers points and multipliers to the progress; may end by OutOfTimeError or KeyboardInterrupt."""


class ImpossibleError(Exception):
    """A proof that no split meets all constraints; never leaves `solvers`."""


def solve(task: Task, method: Method | None = None) -> tuple[FloatArray, Certificate]:
    """The best split (M,) of a convex problem and its certificate, by the interior-point method or `method`.

    Ends early at the time limit or at Ctrl-C with the best point so far, where there is one. Raises
    ImpossibleError where the floors are proved impossible, NotSolvedError where they leave no interior or
    the time limit passes before there is a point.
    """
    with one_thread():
        others = [] if task.arrays.is_convex or method else [_without_ceilings(task)]
        for epsilon, certificate in others:
            if _keeps_ceilings(task.arrays, epsilon):
                return epsilon, certificate
        reduction = reduce(task.arrays)
        if reduction.unmet.size:
            raise ImpossibleError
        if not reduction.free.size:
            return reduction.fixed, certify(task.arrays, reduction.fixed)
        try:
            inside = point_inside(reduction, task.clock.check)
        except OutOfTimeError:
            raise NotSolvedError("no split within the time limit. Allow more time.") from None
        state = Progress(reduction, Frame.of(task.arrays), inside)
        state.tick = lambda: _tick(task, state)
        with task.clock.ending_early():
            (method or _interior_point)(state, task)
            _tick(task, state)
        if state.epsilon is None:
            state.propose(inside)
        return state.best, _certificate(task.arrays, state, [other.multipliers for _, other in others])


def solve_quietly(arrays: Arrays) -> tuple[FloatArray, Certificate]:
    """The same without a time limit or reports."""
    return solve(Task(arrays, Settings(), Clock(None)))


def _interior_point(state: Progress, task: Task) -> None:
    """The native method, and among optimal splits the one with the least sum of squares."""
    state.propose(state.inside)
    improve(state, careful=task.arrays.is_convex)
    if state.gap <= ACCEPTED:
        state.epsilon = evened(state)


def _tick(task: Task, state: Progress) -> None:
    task.clock.check()
    if np.isfinite(state.gap):
        arrays, unit = task.arrays, state.reduction.unit
        task.report(
            in_objective_unit(arrays, state.reached * unit),
            in_objective_unit(arrays, state.least_bound * unit),
        )


def _certificate(arrays: Arrays, state: Progress, known: Sequence[Multipliers | None]) -> Certificate:
    """The best certificate by the state's multipliers, known ones, or those fitted to the split."""
    if state.multipliers is None:
        return certify(arrays, state.best)
    own = certify(arrays, state.best, state.multipliers)
    if own.relative_gap <= ACCEPTED:
        return own
    others = [certify(arrays, state.best, multipliers) for multipliers in (None, *known)]
    return min([own, *others], key=lambda certificate: certificate.relative_gap)


def _without_ceilings(task: Task) -> tuple[FloatArray, Certificate]:
    """The optimum of the problem without its ceilings: it is convex, and its bound holds for both."""
    free = replace(task.arrays, log_ceiling=np.zeros(task.arrays.moments))
    epsilon, certificate = solve(replace(task, arrays=free))
    found = certificate.multipliers
    if found is not None and found.point is None:
        found = replace(found, point=epsilon)
    return epsilon, replace(certificate, multipliers=found)


def _keeps_ceilings(arrays: Arrays, epsilon: FloatArray) -> bool:
    below = arrays.log_ceiling - log_retentions(arrays, epsilon) >= CEILING_MARGIN
    return bool(np.all(below[arrays.ceilings]))


def point_inside(reduction: Reduction, tick: Callable[[], None] | None) -> FloatArray:
    """A split (n,) strictly inside floors, caps and bounds."""
    default = inner_start(reduction.program)
    if strictly_inside(reduction.program, default):
        return default
    found = margin(reduction.arrays, tick)
    if found.impossible:
        raise ImpossibleError
    if not found.inside:
        raise NotSolvedError(_no_interior(reduction.arrays, found))
    return towards(reduction.program, found.epsilon[reduction.free], default)


def _no_interior(arrays: Arrays, found: Margin) -> str:
    more = ", raise a ceiling" if arrays.ceilings.size else ""
    return (
        "the feasible set has no interior: the largest common factor on all floors that a split keeps lies "
        f"between {np.exp(found.reached):.15g} and {np.exp(found.bound):.15g}; rounding needs at least "
        f"{1 + LEAST_MARGIN!r}. Lower a floor{more}, or raise the total epsilon, a group or a bound in the "
        "way, by one part in a million."
    )
