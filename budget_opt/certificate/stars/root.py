"""The bound of `weighted_sum` on the whole problem: one box, tangents at the split that is judged."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from budget_opt.certificate.box import Rows, budget_rows, chord_rows, root_box
from budget_opt.certificate.stars.bound import Boxes, StarMultipliers, evaluate
from budget_opt.certificate.stars.descent import Descent, descend, first_multipliers
from budget_opt.certificate.stars.structure import Structure
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import value as objective_value

STEPS = 120
"""Steps of the descent at the root."""
_CLOSED = 1e-9
"""Relative gap at which the descent has nothing left to do."""
_HIGHEST = 1.0 - 2.0**-52
_UNIT = 2.0**-53


def root_bound(
    arrays: Arrays,
    epsilon: FloatArray,
    multipliers: StarMultipliers | None = None,
    proceed: Callable[[], bool] | None = None,
) -> tuple[float, StarMultipliers]:
    """A proved upper bound of `weighted_sum` and its multipliers; with given ones, just theirs.

    `epsilon` (M,) is where tangents are taken. `proceed` is asked before every step and may end the descent.
    """
    scale = float(np.max(arrays.weight, initial=0.0))
    if scale == 0.0:
        return 0.0, _no_multipliers()
    boxes = root_boxes(arrays, epsilon, scale)
    if multipliers is None:
        target = np.array([objective_value(arrays, epsilon) / scale])
        aim = Descent(target, target * (1.0 + _CLOSED), STEPS, proceed)
        found = descend(boxes, first_multipliers(boxes), aim)
    else:
        found = evaluate(boxes, multipliers)
    # lambda beyond 1 - 2^-52 was cut off: by that much a factor each
    order = int(np.diff(arrays.incidence.indptr).max(initial=0))
    bound = float(found.bound[0]) * scale * (1.0 + (order + 4) * 2.0**-52)
    return min(math.nextafter(bound, math.inf), _largest(arrays)), found.multipliers


def root_boxes(arrays: Arrays, epsilon: FloatArray, scale: float) -> Boxes:
    """The box of all feasible splits, budgets and ceilings' chords as rows; weights divided by `scale`."""
    box = root_box(arrays)
    low = rr.retention(box.lower, arrays.cardinality) * (1.0 - 16 * _UNIT)
    low = np.minimum(low, _HIGHEST * (1.0 - 16 * _UNIT))
    high = np.minimum(_HIGHEST, rr.retention(box.upper, arrays.cardinality) * (1.0 + 16 * _UNIT))
    point = np.clip(rr.retention(epsilon, arrays.cardinality), low, high)
    rows = _rows(arrays)
    floors = arrays.floors
    return Boxes(
        Structure.of(arrays.incidence, arrays.weight / scale),
        arrays.cardinality,
        low[:, None],
        high[:, None],
        point[:, None],
        rows.coefficient,
        rows.limit,
        arrays.incidence[floors].toarray(),
        arrays.log_floor[floors],
    )


def _rows(arrays: Arrays) -> Rows:
    """Budgets first, then the chords that say something."""
    budgets = budget_rows(arrays)
    chords = chord_rows(arrays, root_box(arrays))
    told = np.any(chords.coefficient > 0, axis=1)
    return Rows(
        np.vstack([budgets.coefficient, chords.coefficient[told]]),
        np.concatenate([budgets.limit, chords.limit[told]]),
    )


def _largest(arrays: Arrays) -> float:
    """The sum at the upper bounds, with each term at most at its ceiling."""
    with np.errstate(invalid="ignore"):
        most = arrays.incidence @ rr.log_retention(arrays.upper, arrays.cardinality)
    most = np.minimum(most, arrays.log_ceiling) + 1e-12
    return float(np.sum(arrays.weight * np.exp(most))) * (1.0 + 1e-12)


def _no_multipliers() -> StarMultipliers:
    return StarMultipliers((), np.zeros((0, 0, 1)), np.zeros((0, 1)), np.zeros((0, 1)))
