"""Which of several optimal splits: the one with the least sum of squares of epsilon.

At multipliers that prove an optimum, every optimal split maximizes the Lagrangian, which is separable and
strictly concave in each attribute that has a price or a pull (of a row or of the objective): such an epsilon
is the same in all optimal splits. Those of the other, idle attributes may move as long as the rows and caps
that hold them keep what they have; among them the least sum of squares is unique, since epsilon squared is
convex in the program's coordinate. It treats alike what is alike, and spends nothing that buys nothing.

Where a ceiling's pull and the objective's cancel, an attribute without price may also move along the active
ceiling; it stays where the central path ends, which treats alike what is alike as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from budget_opt.model.arrays import BoolArray, FloatArray, IntArray
from budget_opt.solvers.convex import Progress, brought_inside
from budget_opt.solvers.interior_point import Rules, iterate
from budget_opt.solvers.iterate import Constraints, Iterate
from budget_opt.solvers.program import Program

_CLOSE = 1e-13
"""Complementarity, of the sum of squares: epsilons are then alike to about 1e-7."""
_RULES = Rules(iterations=80, tolerance=1e-13)


def evened(state: Progress) -> FloatArray:
    """The best split (M,) with its idle attributes at the least sum of squares."""
    reduction, program, best = state.reduction, state.reduction.program, state.best
    point = best[reduction.free]
    idle = np.flatnonzero(_idle(state, point))
    if not idle.size:
        return best
    part = _part(program, point, idle, state.level)
    moved = point.copy()
    moved[idle] = _least_squares(part, point[idle], state.tick)
    inside = brought_inside(reduction, moved, point)
    if inside is None or not state.as_good(reduction.expand(inside)):
        return best
    return reduction.expand(inside)


def _idle(state: Progress, point: FloatArray) -> BoolArray:
    """Attributes (n,) without pull or price: no row and no cap that holds them is active.

    Of slack and multiplier of an active constraint, in logarithms and shares, the multiplier is the larger.
    """
    program = state.reduction.program
    if state.duals is None or np.any(program.cost):
        return np.zeros(program.size, dtype=bool)
    rows, caps = state.duals
    v = program.point(point)
    active_rows = rows > np.abs(program.row_slack(v, state.level))
    active_caps = caps > np.abs(program.cap_slack(v))
    pulled = abs(program.rows).T @ active_rows.astype(np.float64) > 0
    if program.spread is not None:
        used = np.asarray(abs(program.spread.rows).sum(axis=0), dtype=np.float64)
        pulled |= program.spread.columns.gathered(used) > 0
    priced = np.any(program.cap[active_caps] > 0, axis=0)
    idle: BoolArray = ~(pulled | priced | (program.gain > 0))
    return idle


def _part(program: Program, point: FloatArray, idle: IntArray, level: float) -> Program:
    """The sum of squares of the idle attributes, to be made least, with all others where they are."""
    v = program.point(point)
    rest = program.coordinate.log_retention(v)
    rest[idle] = 0.0
    spent = point - program.lower
    spent[idle] = 0.0
    held = abs(program.rows[:, idle]).sum(axis=1) > 0
    bound = program.row_bound + program.row_level * level - program.rows @ rest
    return replace(
        program,
        cardinality=program.cardinality[idle],
        lower=program.lower[idle],
        upper=program.upper[idle],
        rows=program.rows[:, idle][held],
        row_bound=bound[held],
        row_level=np.zeros(int(np.sum(held))),
        cap=program.cap[:, idle],
        cap_limit=program.cap_limit - program.cap @ spent,
        gain=np.zeros(idle.size),
        cost=np.zeros(idle.size),
        spread=None,
        has_level=False,
        square=1.0 / float(np.sum(point[idle] ** 2)),
    )


def _least_squares(part: Program, start: FloatArray, tick: Callable[[], None] | None) -> FloatArray:
    def close(at: Iterate) -> bool:
        if tick is not None:
            tick()
        return at.complementarity < _CLOSE

    constraints = Constraints(part)
    end = iterate(constraints, constraints.start(part.point(start), 1.0), close, _RULES)
    return part.epsilon(end.v)
