"""`weighted_sum`: local search from many starts, then a bound.

The bound is the root's (`certificate.proof.root`); the search that closes the gap is `global_search`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers import convex_method, local
from budget_opt.solvers.answer import Task
from budget_opt.solvers.ascent import Sum, starts, within
from budget_opt.solvers.convex import mixture
from budget_opt.solvers.coordinate import LOG
from budget_opt.solvers.local import Best
from budget_opt.solvers.phase_one import strictly_inside
from budget_opt.solvers.reduction import Reduction, inner_start, reduce
from budget_opt.solvers.search import best_splits, from_starts

_SHARE = 0.7
"""Of a time limit, for the search; the rest is for the bound."""
RANDOM_STARTS = 4
"""Splits of each kind besides the even one from which the constrained local search starts."""


def solve(task: Task) -> tuple[FloatArray, Certificate]:
    """The best split (M,) found, and its certificate.

    Ends early at the time limit or at Ctrl-C with the best point so far. Raises ImpossibleError where the
    floors are proved impossible, NotSolvedError where no point inside all constraints was found.
    """
    epsilon = split_found(task)
    return epsilon, _certificate(task, epsilon)


def split_found(task: Task, random_starts: int | None = RANDOM_STARTS) -> FloatArray:
    """The best split (M,) that local search finds, without a bound; raises as `solve` does.

    `random_starts` are tried besides the even split and the optima under the total alone; None for a quick
    one, from the starts given, the even split and the best of those optima alone.
    """
    best = found(task, random_starts)[1]
    assert best.epsilon is not None
    return tidied(task, best.epsilon, best)


def found(task: Task, random_starts: int | None = RANDOM_STARTS) -> tuple[Reduction, Best]:
    """What `split_found` finds, before it is tidied, and the reduction; raises as `solve` does."""
    arrays = task.arrays
    reduction = local.with_total(reduce(arrays))
    best = Best(arrays)
    if reduction.unmet.size:
        raise convex_method.ImpossibleError
    if not reduction.free.size:
        best.offer(reduction.fixed)
    with task.clock.ending_early():
        if reduction.free.size:
            _search(task, reduction, best, random_starts)
    if best.epsilon is None:
        raise NotSolvedError(
            "no split strictly inside all constraints was found, and none was proved impossible. "
            "Raise a ceiling, lower a floor, or allow more time."
        )
    return reduction, best


def _certificate(task: Task, epsilon: FloatArray) -> Certificate:
    """The bound from what the time limit leaves; Ctrl-C takes the first bound there is."""
    try:
        return certify(task.arrays, epsilon, proceed=lambda: task.clock.left() > 0)
    except KeyboardInterrupt:
        task.clock.interrupted = True
        return certify(task.arrays, epsilon, proceed=lambda: False)


def _search(task: Task, reduction: Reduction, best: Best, random_starts: int | None) -> None:
    """Offer every local optimum to `best`."""
    total = as_sum(reduction)

    def check() -> None:
        task.clock.check(_SHARE)

    def seen(epsilon: FloatArray) -> None:
        if best.offer(reduction.expand(epsilon)):
            task.report(best.value, None)

    if total is not None and only_total(reduction):
        seen(inner_start(reduction.program))
        seen(np.minimum(total.lower + total.rest / total.lower.size, total.upper))
        wanted_splits(task, reduction, total, check, seen)
        return
    reduction = local.off_zero(reduction)
    inside = inside_all(task, reduction)
    seen(inside)
    for start in _starts(task, reduction, total, check, random_starts):
        local.improve(reduction, mixed(reduction, inside, start), inside, best, check)
        task.report(best.value, None)


def inside_all(task: Task, reduction: Reduction) -> FloatArray:
    """A split (n,) strictly inside everything; raises as `convex_method.point_inside` does."""
    return convex_method.point_inside(reduction, task.clock.check)


def mixed(reduction: Reduction, inside: FloatArray, wanted: FloatArray) -> FloatArray:
    """A point (n,) strictly inside everything, from `inside` as far towards `wanted` as may be."""
    program = reduction.program
    for share in (0.98, 0.9, 0.75, *0.5 ** np.arange(1, 20)):
        # where ceilings allow it in epsilon itself: what `wanted` leaves at 0 stays within reach
        between: FloatArray = (1 - share) * inside + share * wanted
        if program.coordinate is LOG:
            between = mixture(program, inside, wanted, float(share))
        if strictly_inside(program, between):
            return between
    return inside


def as_sum(reduction: Reduction) -> Sum | None:
    """The weighted sum under the tightest view of one total, None where no weight is left."""
    program = reduction.program
    if program.total is None:
        return None
    whole = [rest for rest, row in zip(reduction.rest, program.cap, strict=True) if np.all(row > 0)]
    room = float(np.sum(program.upper - program.lower))
    rest = min([*whole, room])
    weight = np.exp(program.total.terms)
    return Sum(weight, program.total.rows, program.cardinality, program.lower, program.upper, rest)


def only_total(reduction: Reduction) -> bool:
    """True where bounds and one cap over all free attributes are the only constraints."""
    program = reduction.program
    return program.row_bound.size == 0 and len(program.cap) <= 1 and bool(np.all(program.cap > 0))


def wanted_splits(
    task: Task,
    reduction: Reduction,
    total: Sum,
    check: Callable[[], None],
    seen: Callable[[FloatArray], None],
) -> list[FloatArray]:
    """Good splits (n,) under the total and bounds alone, best first: local optima, and the starts given."""
    given = [within(total, start[reduction.free]) for start in usable(task)]
    if not given:
        return best_splits(total, check, seen)
    found = from_starts(total, given, check, seen)
    return found if only_total(reduction) else [*given, *found]


def usable(task: Task) -> list[FloatArray]:
    """The starts (M,) given, as far as they are splits of so many attributes."""
    shape = task.arrays.lower.shape
    starts = [np.asarray(start, dtype=np.float64) for start in task.starts]
    return [start for start in starts if start.shape == shape and np.all(np.isfinite(start))]


def _starts(
    task: Task, reduction: Reduction, total: Sum | None, check: Callable[[], None], random_starts: int | None
) -> list[FloatArray]:
    """Splits (n,) worth starting from: optima without the constraints in the way, even and random splits.

    Where `random_starts` is None, splits given, the best of those optima and the even split are all.
    """
    even = inner_start(reduction.program)
    if total is None:
        return [even]
    found = wanted_splits(task, reduction, total, check, lambda _: None)
    if random_starts is None:
        return [*found[: len(usable(task)) + 1], even]
    random = starts(total, random_starts, np.random.default_rng(1)).T[1:]  # the first is even too
    return [*found, even, *random]


def tidied(task: Task, epsilon: FloatArray, best: Best) -> FloatArray:
    """The split, with attributes that hold next to nothing at their lower bounds."""
    above = epsilon - task.arrays.lower
    nothing = above < 1e-8 * np.max(above, initial=0.0)
    trimmed = np.where(nothing, task.arrays.lower, epsilon)
    return trimmed if local.keeps_all(task.arrays, trimmed) and best.as_good(trimmed) else epsilon
