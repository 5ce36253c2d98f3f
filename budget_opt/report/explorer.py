"""What the sliders of the page work on: the split in whole units, and the moments that depend on it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED, TOTAL
from budget_opt.model.clusters.block import Block
from budget_opt.model.problem import Problem
from budget_opt.report.subject import Subject

DIGITS = 12
"""Decimals of a unit below the leading digit of the total: sums of units stay whole numbers below 2^53."""
SMALLEST = 1e-6
"""Nats; sliders for a smaller total would move what nobody could notice."""


def explorer_data(subject: Subject) -> dict[str, Any] | None:
    """What has an epsilon (as `attributes`), moments, groups and the unit, as the page's scripts read them.

    Epsilons are counted in units of 10^`exponent` nats, so that what moves from one attribute to another is
    neither lost nor made; those of the report's split stand beside them as they are.
    """
    problem, split = subject.problem, subject.allocation
    movable = [block for block in problem.blocks if not block.is_pinned]
    if len(movable) < 2 or split.spent_epsilon < SMALLEST or problem.total_delta > 0:
        return None
    exponent = math.floor(math.log10(split.spent_epsilon)) - DIGITS
    unit = Fraction(10) ** exponent
    first = problem.levels[0] if problem.levels else 1
    return {
        "objective": problem.objective,
        "level": first if len(problem.levels) > 1 else None,
        "minimized": problem.objective in MINIMIZED,
        "exponent": exponent,
        "spent": split.spent_epsilon,
        "step": 10.0 ** (exponent + DIGITS - 2),
        "attributes": [
            _block(stated, here.epsilon, even.epsilon, unit)
            for stated, here, even in zip(problem.blocks, split.blocks, subject.even.blocks, strict=True)
        ],
        "moments": [_moment(problem, k, first) for k in range(len(problem.moments))],
        "budgets": [_budget(name, members, most, problem, unit) for name, members, most in problem.budgets()],
    }


def _budget(
    name: str, members: tuple[str, ...], most: Fraction, problem: Problem, unit: Fraction
) -> dict[str, Any]:
    """A group, or the total, which has no name here."""
    return {
        "name": None if name == TOTAL else name,
        "members": sorted(problem.touched(members)),
        "most": math.floor(most / unit),
    }


def _block(stated: Block, epsilon: float, even: float, unit: Fraction) -> dict[str, Any]:
    pinned = {"pinned": True} if stated.is_pinned else {}
    outside = {} if stated.lower <= epsilon <= stated.upper else {"outside": True}
    least = {"least": math.ceil(exact(stated.lower) / unit)} if stated.lower > 0 else {}
    most = {"most": math.floor(exact(stated.upper) / unit)} if stated.upper < math.inf else {}
    effective = stated.effective_cardinality
    return {
        "name": stated.name,
        "r": int(effective) if effective.is_integer() else effective,
        "epsilon": epsilon,
        "units": math.floor(exact(epsilon) / unit),
        "even": math.floor(exact(even) / unit),
        **pinned,
        **outside,
        **least,
        **most,
    }


def _moment(problem: Problem, k: int, first: int) -> dict[str, Any]:
    """A moment; `weight` is 0 where its level is not the first, as in the objective's value.

    `spread` has (a, b) of DESIGN 2.3 for each block of it, where any differs from (1, 1); `detail` is what
    groupings leave, where they lose anything.
    """
    stated, arrays = problem.moments[k], problem.arrays
    counts = stated.level == first
    optional = {"floor": stated.floor, "ceiling": stated.ceiling}
    scales = {"target": stated.target, "variance": stated.variance}
    columns = arrays.spread_columns(k)
    spread = [[arrays.spread_a[j], arrays.spread_b[j]] for j in columns]
    return {
        "label": stated.label,
        "of": arrays.spread_block[columns].tolist(),
        "weight": stated.weight if counts else 0,
        **{name: value for name, value in optional.items() if value is not None},
        **{name: value for name, value in scales.items() if value != 1},
        **({} if arrays.detail[k] == 1 else {"detail": float(arrays.detail[k])}),
        **({} if all(pair == [1.0, 1.0] for pair in spread) else {"spread": spread}),
    }
