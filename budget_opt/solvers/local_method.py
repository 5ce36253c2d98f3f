"""What is not convex, a weighted sum or ceilings: local search from many starts, then a bound.

The bound is the root's (`certificate`); the search that closes the gap is another method.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers import convex_method, local
from budget_opt.solvers.answer import OutOfTimeError, Task
from budget_opt.solvers.ascent import Sum, starts
from budget_opt.solvers.ceilings import Ceilings
from budget_opt.solvers.local import Best
from budget_opt.solvers.reduction import Reduction, inner_start, reduce
from budget_opt.solvers.search import best_splits

_RANDOM_STARTS = 4
"""Splits of each kind besides the even one from which the constrained local search starts."""


def solve(task: Task) -> tuple[FloatArray, Certificate]:
    """The best split (M,) found, and its certificate.

    Ends early at the time limit or at Ctrl-C with the best point so far. Raises ImpossibleError where the
    floors are proved impossible, NotSolvedError where no point inside all constraints was found.
    """
    arrays = task.arrays
    reduction = local.with_total(reduce(arrays))
    best = Best(arrays)
    if reduction.unmet.size:
        raise convex_method.ImpossibleError
    if not reduction.free.size:
        best.offer(reduction.fixed)
    with suppress(OutOfTimeError, KeyboardInterrupt):
        if reduction.free.size:
            _search(task, reduction, best)
    if best.epsilon is None:
        raise NotSolvedError(
            "no split that keeps all floors and ceilings was found, and none was proved impossible. "
            "Raise a ceiling, lower a floor, or allow more time."
        )
    epsilon = _tidied(task, reduction, best)
    return epsilon, certify(arrays, epsilon)


def _search(task: Task, reduction: Reduction, best: Best) -> None:
    """Offer every local optimum to `best`."""
    total = _as_sum(reduction)

    def seen(epsilon: FloatArray) -> None:
        if best.offer(reduction.expand(epsilon)):
            task.report(best.value, None)

    if total is not None and _only_total(reduction):
        best_splits(total, task.clock.check, seen)
        return
    reduction = local.off_zero(reduction)
    ceilings = Ceilings.of(reduction)
    inside = _inside(task, reduction, ceilings)
    seen(inside)
    for start in [inside, *_starts(task, reduction, total)]:
        point = _mixed(reduction, ceilings, inside, start)
        local.improve(reduction, ceilings, point, best, task.clock.check)
        task.report(best.value, None)
    if ceilings.size and best.epsilon is not None:
        last = _mixed(reduction, ceilings, inside, best.epsilon[reduction.free])
        local.improve(reduction, ceilings, last, best, task.clock.check, local.LONG)


def _mixed(reduction: Reduction, ceilings: Ceilings, inside: FloatArray, wanted: FloatArray) -> FloatArray:
    """A point (n,) strictly inside everything, from `inside` as far towards `wanted` as may be."""
    for share in (0.98, 0.9, 0.75, *0.5 ** np.arange(1, 20)):
        mixed: FloatArray = (1 - share) * inside + share * wanted
        if local.strictly(reduction.program, ceilings, mixed):
            return mixed
    return inside


def _as_sum(reduction: Reduction) -> Sum | None:
    """The weighted sum under the tightest view of one total, None for another objective."""
    program = reduction.program
    if program.total is None:
        return None
    whole = [rest for rest, row in zip(reduction.rest, program.cap, strict=True) if np.all(row > 0)]
    room = float(np.sum(program.upper - program.lower))
    rest = min([*whole, room])
    weight = np.exp(program.total.terms)
    return Sum(weight, program.total.rows, program.cardinality, program.lower, program.upper, rest)


def _only_total(reduction: Reduction) -> bool:
    """True where bounds and one cap over all free attributes are the only constraints."""
    program = reduction.program
    return (
        program.row_bound.size == 0
        and not Ceilings.of(reduction).size
        and len(program.cap) <= 1
        and bool(np.all(program.cap > 0))
    )


def _inside(task: Task, reduction: Reduction, ceilings: Ceilings) -> FloatArray:
    """A split (n,) strictly inside everything."""
    inside = convex_method.point_inside(reduction, task.clock.check)
    if not ceilings.size:
        return inside
    frugal = replace(task.arrays, objective="min_epsilon", log_ceiling=np.zeros(task.arrays.moments))
    least = np.maximum(convex_method.solve_quietly(frugal)[0][reduction.free], reduction.program.lower)
    starts = [inside, 0.99 * least + 0.01 * inside, inner_start(reduction.program)]
    found = local.inside_ceilings(reduction, ceilings, starts, task.clock.check)
    if found is None:
        raise NotSolvedError(
            "no split that keeps all floors and ceilings was found, and none was proved impossible. "
            "Raise a ceiling or lower a floor that share attributes."
        )
    return found


def _starts(task: Task, reduction: Reduction, total: Sum | None) -> list[FloatArray]:
    """Splits (n,) worth starting from: optima without the constraints in the way, even and random splits."""
    if total is None:
        unceiled = replace(task.arrays, log_ceiling=np.zeros(task.arrays.moments))
        relaxed, _ = convex_method.solve_quietly(unceiled)
        return [relaxed[reduction.free], inner_start(reduction.program)]
    found = best_splits(total, task.clock.check, lambda _: None)
    random = starts(total, _RANDOM_STARTS, np.random.default_rng(1))
    return [*found, *random.T]


def _tidied(task: Task, reduction: Reduction, best: Best) -> FloatArray:
    """The best split, with attributes that hold next to nothing at their lower bounds."""
    assert best.epsilon is not None
    epsilon = best.epsilon
    above = epsilon - task.arrays.lower
    nothing = above < 1e-9 * np.max(above, initial=0.0)
    trimmed = np.where(nothing, task.arrays.lower, epsilon)
    again = Best(task.arrays, epsilon, best.value)
    if local.keeps_all(task.arrays, trimmed) and again.as_good(trimmed):
        return trimmed
    return epsilon
