"""From a convex problem to a certified candidate: presolve, a point inside the floors, the solve."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.certificate.convex import Frame, in_objective_unit
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.solvers.answer import Clock, OutOfTimeError, Settings, Task
from budget_opt.solvers.convex import Progress, improve
from budget_opt.solvers.phase_one import margin, strictly_inside, towards
from budget_opt.solvers.reduction import Reduction, inner_start, reduce

Start = Callable[[Reduction], FloatArray | None]
"""A first guess (n,) for the program's epsilons, or None."""


ENOUGH = 1e-8
"""Relative gap above which multipliers are fitted anew to see whether they prove more."""


class ImpossibleError(Exception):
    """A proof that no split meets all constraints; never leaves `solvers`."""


def solve(task: Task, start: Start | None) -> tuple[FloatArray, Certificate]:
    """The best split (M,) of a convex problem and its certificate.

    Ends early at the time limit or at Ctrl-C with the best point so far, where there is one. Raises
    ImpossibleError where the floors are proved impossible, NotSolvedError where they leave no interior or
    the time limit passes before there is a point.
    """
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
    state.propose(inside)
    with suppress(OutOfTimeError, KeyboardInterrupt):
        improve(state, None if start is None else start(reduction))
    return state.best, _certificate(task.arrays, state)


def solve_quietly(arrays: Arrays) -> tuple[FloatArray, Certificate]:
    """The same without a first guess, a time limit or reports."""
    return solve(Task(arrays, Settings(), Clock(None)), None)


def _tick(task: Task, state: Progress) -> None:
    task.clock.check()
    if np.isfinite(state.gap):
        arrays, unit = task.arrays, state.reduction.unit
        task.report(
            in_objective_unit(arrays, state.reached * unit),
            in_objective_unit(arrays, state.least_bound * unit),
        )


def _certificate(arrays: Arrays, state: Progress) -> Certificate:
    if state.multipliers is None:
        return certify(arrays, state.best)
    own = certify(arrays, state.best, state.multipliers)
    if own.relative_gap <= ENOUGH:
        return own
    others = [certify(arrays, state.best)]
    relaxed = _without_ceilings(arrays)
    if relaxed is not None:
        others.append(certify(arrays, state.best, relaxed))
    return min([own, *others], key=lambda certificate: certificate.relative_gap)


def _without_ceilings(arrays: Arrays) -> Multipliers | None:
    """The multipliers of the problem without its ceilings, which bound it too; None where there are none.

    Only `min_variance` with stated marginals needs them: its ceilings are not convex.
    """
    if not arrays.ceilings.size:
        return None
    plain = replace(arrays, log_ceiling=np.zeros(arrays.moments))
    epsilon, certificate = solve_quietly(plain)
    found = certificate.multipliers
    return replace(found, point=epsilon) if isinstance(found, Multipliers) else None


def point_inside(reduction: Reduction, tick: Callable[[], None] | None) -> FloatArray:
    """A split (n,) strictly inside floors, caps and bounds."""
    default = inner_start(reduction.program)
    if strictly_inside(reduction.program, default):
        return default
    found = margin(reduction.arrays, tick)
    if found.impossible:
        raise ImpossibleError
    if not found.inside:
        raise NotSolvedError(
            "the floors leave no room: the largest common factor on all floors lies between "
            f"{np.exp(found.reached):.15g} and {np.exp(found.bound):.15g}. "
            "Lower a floor or raise the total epsilon by a hair."
        )
    return towards(reduction.program, found.epsilon[reduction.free], default)
