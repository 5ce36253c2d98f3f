"""What one record of an allocation costs, all attributes or some, under each composition (DESIGN 2.4).

Attributes that are randomized together cost the whole loss of their cluster, for one of them as for all.

The figures hold for replacing one record's values. A figure for some attributes bounds what a change of these
alone does to the odds of a release; it does **not** bound what can be learned about them, because other
attributes of the record carry it: that bound is the whole record's (DESIGN 2.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from budget_opt.accounting.convolution import above, below, grid_step
from budget_opt.accounting.loss import ThreePoint, chosen, three_points
from budget_opt.accounting.zcdp import tight_rho
from budget_opt.allocation.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least

DELTA = 1e-6
"""The delta for which figures are shown where none is asked for."""


@dataclass(frozen=True)
class Approximate:
    """A proved pair: the loss is at most `epsilon` nats except with `delta`, as (epsilon, delta)-DP says it.

    The one that was asked for is rounded up (toward privacy), and `lower` is a proved lower bound of its
    exact value; with a background that is not uniform, of the value of the law that dominates (`loss`), below
    which the exact one may lie. `grid` is the step of the loss in nats that the convolution worked with, 0
    where none was needed.
    """

    epsilon: float
    delta: float
    lower: float
    grid: float


def sum_loss(allocation: Allocation, names: Iterable[str] | None = None) -> float:
    """The sum of the implemented losses in nats, exact on decimals and rounded up: pure epsilon-DP.

    `names` chooses attributes, all by default (what that does not bound: see the module); of a cluster that
    they touch the whole loss counts, once. Raises `InputError` for an unknown or repeated name.
    """
    return float_at_least(exact_sum(block.loss for block in chosen(allocation, names)))


def epsilon_at(
    allocation: Allocation, delta: float = DELTA, names: Iterable[str] | None = None
) -> Approximate:
    """The epsilon (nats, rounded up, never above the sum) at a `delta` in [0, 1); delta 0 gives the sum.

    `names` as in `sum_loss`. Raises `InputError` for another delta or an unknown or repeated name.
    """
    require_delta(delta)
    kept = _listed(names)
    pure = sum_loss(allocation, kept)
    return epsilon_of(three_points(allocation, kept), delta, pure)


@lru_cache(maxsize=64)
def epsilon_of(points: tuple[ThreePoint, ...], delta: float, pure: float) -> Approximate:
    """`epsilon_at` for losses; `pure` is their sum in nats, rounded up.

    It is kept for a while: whoever looks at an allocation, verifies and reports it asks each time anew.
    """
    if delta == 0 or not points:
        return Approximate(pure, delta, _sum_at_most(points), 0.0)
    step = grid_step(points)
    upper = above(points, step).epsilon(_below(delta))
    lower = _below(below(points, step).epsilon(_above(delta), min(pure, upper)))
    return Approximate(min(pure, _above(upper)), delta, lower, step)


def delta_at(allocation: Allocation, epsilon: float, names: Iterable[str] | None = None) -> Approximate:
    """The delta (rounded up) at an `epsilon` >= 0 in nats; 0 from the sum of losses on.

    `names` as in `sum_loss`. Raises `InputError` for another epsilon or an unknown or repeated name.
    """
    if not _is_number(epsilon) or not 0 <= epsilon < math.inf:
        raise InputError(f"epsilon: is {epsilon!r}, must be a finite number >= 0 (nats).")
    kept = _listed(names)
    return delta_of(three_points(allocation, kept), float(epsilon), sum_loss(allocation, kept))


def delta_of(points: tuple[ThreePoint, ...], epsilon: float, pure: float) -> Approximate:
    """`delta_at` for losses; `pure` is their sum in nats, rounded up."""
    if epsilon >= pure or not points:
        return Approximate(epsilon, 0.0, 0.0, 0.0)
    step = grid_step(points)
    upper = _above(above(points, step).delta(_below(epsilon)))
    return Approximate(epsilon, upper, _below(below(points, step).delta(_above(epsilon))), step)


def total_at(allocation: Allocation) -> Approximate:
    """The delta (rounded up) at the total epsilon that the allocation states, to be held against its own.

    Raises `InputError` where it states none.
    """
    total = allocation.total_epsilon
    if total is None:
        raise InputError("total_epsilon: is not stated. Ask delta_at for an epsilon of your choice.")
    return delta_at(allocation, total)


def keeps_total(allocation: Allocation) -> bool:
    """True where the stated total_epsilon with total_delta is proved by exact convolution."""
    return exact(total_at(allocation).delta) <= exact(allocation.total_delta)


def zcdp(allocation: Allocation, names: Iterable[str] | None = None) -> float:
    """rho of zero-concentrated differential privacy, the sum of those of the blocks, rounded up.

    It is the tight one where every background is uniform, and else an upper bound (`loss`). `names` as in
    `sum_loss`. Raises `InputError` for an unknown or repeated name.
    """
    return float_at_least(exact_sum(tight_rho(three_points(allocation, names))))


def require_delta(delta: float) -> None:
    """Raise `InputError` for a delta that is not a number in [0, 1)."""
    if not _is_number(delta) or not 0 <= delta < 1:
        raise InputError(f"delta: is {delta!r}, must be a number from 0 to below 1, such as 1e-6.")


def _above(number: float) -> float:
    """The next double; 0 stays. A result means the decimal of its text, the bounds are binary numbers."""
    return math.nextafter(number, math.inf) if number > 0 else number


def _below(number: float) -> float:
    """The double before; 0 stays."""
    return math.nextafter(number, 0.0)


def _is_number(number: object) -> bool:
    return isinstance(number, float | int | np.floating | np.integer) and not isinstance(number, bool)


def _listed(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else (names,) if isinstance(names, str) else tuple(names)


def _sum_at_most(points: tuple[ThreePoint, ...]) -> float:
    return math.fsum(point.between[0] for point in points) * (1 - 2.0**-52)
