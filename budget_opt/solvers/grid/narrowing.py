"""Boxes of the grid without what no point that keeps everything, and is better, can have."""

from __future__ import annotations

import numpy as np

from budget_opt.model.arrays import BoolArray, FloatArray, IntArray
from budget_opt.solvers.grid.worth import Worth

_ROUNDING = 1e-11
"""On a sum of a few logarithms."""
_ROUNDS = 3
Boxes = tuple[IntArray, IntArray, BoolArray]


def narrowed(worth: Worth, lower: IntArray, upper: IntArray, wanted: float) -> Boxes:
    """Boxes (n, B) after what floors, ceilings and caps leave, and which of them still hold anything.

    `wanted` is the worth that a point must pass: a floor on every moment for `max_min`, a cap on all epsilons
    for `min_epsilon`.
    """
    rows, least = _rows(worth, wanted)
    possible = np.ones(lower.shape[1], dtype=bool)
    for _ in range(_ROUNDS):
        before = lower, upper
        lower = _raised(worth, rows, least, lower, upper)
        possible &= np.all(lower <= upper, axis=0)
        lower = np.minimum(lower, upper)
        upper = _lowered(worth, lower, upper)
        upper = _capped(worth, lower, upper, wanted)
        possible &= np.all(lower <= upper, axis=0)
        upper = np.maximum(upper, lower)
        if np.array_equal(before[0], lower) and np.array_equal(before[1], upper):
            break
    possible &= np.all(worth.lattice.cap @ lower <= worth.lattice.room[:, None], axis=0)
    return lower, upper, possible


def _rows(worth: Worth, wanted: float) -> tuple[FloatArray, FloatArray]:
    """Incidence and least logarithm of all that must be kept."""
    lattice = worth.lattice
    rows, least = lattice.rows[lattice.arrays.floors], lattice.least
    if worth.arrays.objective == "max_min" and np.isfinite(wanted):
        rows = np.vstack([rows, lattice.rows[worth.terms]])
        least = np.concatenate([least, wanted - worth.logs])
    return rows, least - _ROUNDING


def _raised(worth: Worth, rows: FloatArray, least: FloatArray, lower: IntArray, upper: IntArray) -> IntArray:
    """Each attribute has at least what its rows need with all others at their upper ends."""
    table = worth.lattice.log_kept
    if not len(rows):
        return lower
    highest = worth.lattice.at(table, upper)
    short = least[:, None] - rows @ highest
    # what the row of each attribute that is shortest needs of it
    needed = np.max(np.where(rows.T[:, :, None] > 0, short[None, :, :], -np.inf), axis=1) + highest
    count = np.sum(table[:, :, None] < needed[:, None, :], axis=1)
    raised: IntArray = np.maximum(lower, count)
    return raised


def _lowered(worth: Worth, lower: IntArray, upper: IntArray) -> IntArray:
    """Each attribute has at most what its ceilings allow with all others at their lower ends."""
    lattice = worth.lattice
    rows = lattice.rows[lattice.arrays.ceilings]
    if not len(rows):
        return upper
    lowest = lattice.at(lattice.log_kept, lower)
    spare = lattice.most[:, None] - rows @ lowest
    allowed = np.min(np.where(rows.T[:, :, None] > 0, spare[None, :, :], np.inf), axis=1) + lowest
    count = np.sum(lattice.log_kept[:, :, None] <= allowed[:, None, :] + _ROUNDING, axis=1) - 1
    reduced: IntArray = np.minimum(upper, count)
    return reduced


def _capped(worth: Worth, lower: IntArray, upper: IntArray, wanted: float) -> IntArray:
    """Each attribute has at most what the caps leave with all others at their lower ends."""
    lattice = worth.lattice
    cap, room = lattice.cap, lattice.room.astype(np.float64)
    if worth.arrays.objective == "min_epsilon" and np.isfinite(wanted):
        steps = np.floor((-wanted - worth.base) / float(lattice.step) + 1e-9)
        cap, room = np.vstack([cap, np.ones(cap.shape[1])]), np.append(room, steps)
    if not len(cap):
        return upper
    spare = room[:, None] - cap @ lower
    left = np.min(np.where(cap.T[:, :, None] > 0, spare[None, :, :], np.inf), axis=1)
    most: IntArray = np.minimum(upper, lower + np.minimum(left, 2.0**31).astype(np.int64))
    return most
