"""What would do: the least total, the largest floors, single limits. All advice rests on checked splits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import Arrays, BoolArray, FloatArray
from budget_opt.model.objectives import log_retentions
from budget_opt.solvers import convex_method
from budget_opt.solvers.answer import Clock, Settings, Task
from budget_opt.solvers.conflicts.constraints import (
    Constraint,
    System,
    holds,
    limit_of,
    total_of,
    with_limit,
)
from budget_opt.solvers.conflicts.deciding import Tick, decide, is_blocked
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up
from budget_opt.solvers.phase_one import elastic, margin

SPARE = 1e-6
"""Relative distance that an advised number keeps from the very limit, so that following it works."""
_CLOSE = 3e-4
"""Relative width at which the search for a limit ends: four digits are told."""


@dataclass(frozen=True)
class Advice:
    """A number that would do, and the proved bound that every number that does keeps."""

    enough: float
    bound: float


@dataclass(frozen=True)
class Change:
    """A limit that would do if it alone is changed; together with this `total` (nats) where one is stated."""

    limit: float
    total: float | None = None


def least_total(free: System, clock: Clock) -> Advice | None:
    """The least total (nats) that a system without one needs; None where the solve does not tell in time."""
    found = _cheapest(free, clock)
    return None if found is None else found[0]


def _cheapest(free: System, clock: Clock) -> tuple[Advice, FloatArray] | None:
    """The least total and a split (M,) that is within it."""
    arrays = replace(free.restricted, objective="min_epsilon")
    try:
        epsilon, certificate = convex_method.solve(Task(arrays, Settings(), clock))
    except (convex_method.ImpossibleError, NotSolvedError):
        return None
    if not holds(arrays, epsilon):
        return None
    return Advice(float(total_of(epsilon)) * (1 + SPARE), certificate.bound), epsilon


def common_factor(system: System, tick: Tick) -> Advice | None:
    """The largest common factor on all floors that makes room for them; None where none does."""
    arrays = system.restricted
    if not arrays.floors.size or is_blocked(system):
        return None
    try:
        found = margin(arrays, tick, exact=True)
    except NotSolvedError:
        return None
    lowered = replace(arrays, log_floor=arrays.log_floor + found.reached - SPARE / 2)
    if not holds(lowered, found.epsilon):
        return None
    return Advice(float(np.exp(found.reached)) * (1 - SPARE), float(np.exp(found.bound)))


def factor_on(system: System, lowered: frozenset[Constraint], clock: Clock) -> float | None:
    """A common factor on these floors, near the largest, that makes room for all; None without one."""
    arrays = system.restricted
    moving: BoolArray = np.zeros(arrays.moments, dtype=bool)
    moving[[one.index for one in lowered]] = True
    if is_blocked(system):
        return None
    try:
        epsilon, certificate = convex_method.solve(Task(elastic(arrays, moving), Settings(), clock))
    except (convex_method.ImpossibleError, NotSolvedError):
        return None
    if not certificate.value > 0:
        return None
    shift = np.where(moving, np.log(certificate.value) - SPARE / 2, 0.0)
    kept = holds(replace(arrays, log_floor=arrays.log_floor + shift), epsilon)
    return certificate.value * (1 - SPARE) if kept else None


def limit_with_a_total(free: System, one: Constraint, clock: Clock) -> Change | None:
    """A limit that would do together with another total: that of the cheapest split if it were not there."""
    found = _cheapest(free.without({one}), clock)
    if found is None:
        return None
    least, split = found
    number = _number_at(free.arrays, one, split)
    raised = number > limit_of(free.arrays, one)
    told = number if one.kind == "epsilon" else rounded_up(number) if raised else rounded_down(number, 4)
    return Change(told, rounded_up(least.enough))


def limit_that_would_do(arrays: Arrays, one: Constraint, clock: Clock) -> float | None:
    """A number for this constraint alone that makes the whole problem possible, with four digits.

    None where even dropping the constraint does not.
    """
    system = System.of(arrays)
    if one.kind == "floor":
        factor = factor_on(system, frozenset({one}), clock)
        return None if factor is None else rounded_down(limit_of(arrays, one) * factor, 3)
    split = decide(system.without({one}), clock.check)
    if not isinstance(split, np.ndarray):
        return None
    good, bad = _number_at(arrays, one, split), limit_of(arrays, one)
    while abs(good - bad) > _CLOSE * max(abs(good), abs(bad)):
        middle = 0.5 * (good + bad) if min(good, bad) < 0.1 * max(good, bad) else float(np.sqrt(good * bad))
        split = decide(System(with_limit(arrays, one, middle), system.kept), clock.check)
        if isinstance(split, np.ndarray):
            good = middle
        else:
            bad = middle
    told = rounded_up(good, 4) if good > bad else rounded_down(good, 4)
    # a pin has limits on both sides
    checked = decide(System(with_limit(arrays, one, told), system.kept), clock.check)
    return told if isinstance(checked, np.ndarray) else good


def _number_at(arrays: Arrays, one: Constraint, split: FloatArray) -> float:
    """The number with which the constraint would admit a split."""
    match one.kind:
        case "floor" | "ceiling":
            kept = float(np.exp(log_retentions(arrays, split)[one.index])) * float(arrays.detail[one.index])
            return kept * (1 + SPARE)
        case "total_epsilon" | "group":
            return float(total_of(split[arrays.budgets[one.index].members]))
        case "epsilon" | "epsilon_min" | "epsilon_max":
            return float(split[one.index])
