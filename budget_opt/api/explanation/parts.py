"""What each attribute or cluster has of the budget, what that buys, and what needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.clusters.block import Block
from budget_opt.model.objectives import log_retentions
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem

HOLDING = 1e-5
"""Relative: a limit nearer than this is met, and a moment nearer to the minimum holds it."""
Held = Literal["epsilon", "epsilon_min", "epsilon_max", "distortion_max"]


@dataclass(frozen=True)
class Part:
    """The part of the budget of one attribute, or of one cluster with its `members`.

    `share` is of all that is spent. `slope` is the change of the objective's value per nat if its epsilon
    were lowered a little, all others as they are (for `min_epsilon` 1, whatever floors then fail); None
    where the value is undefined or 0. `moments` are those of the objective that need the attribute
    (`min_epsilon`: those with a floor); `surviving` those of them of which something is retained, with
    `weight_share` of all weight; `floors` those of its floors that hold with equality; `held` says which of
    its own bounds its epsilon is at.
    """

    name: str
    epsilon: float
    share: float
    slope: float | None
    moments: tuple[str, ...]
    surviving: tuple[str, ...]
    weight_share: float
    floors: tuple[str, ...]
    held: Held | None
    members: tuple[str, ...] = ()


def parts_of(allocation: Allocation, problem: Problem) -> tuple[Part, ...]:
    """A part an attribute that is randomized alone, and one a cluster, in the order of the blocks."""
    arrays, epsilon = problem.arrays, allocation.epsilons
    slope = slopes(arrays, epsilon)
    kept = log_retentions(arrays, epsilon)
    needing = np.isfinite(arrays.log_floor) if problem.objective == "min_epsilon" else arrays.weight > 0
    weight = np.where(needing, 1.0 if problem.objective == "min_epsilon" else arrays.weight, 0.0)
    holding = np.isfinite(arrays.log_floor) & (kept <= arrays.log_floor + HOLDING)
    survives = [moment.retention > 0 for moment in allocation.moments]
    spent, found = float(np.sum(epsilon)), []
    touched = [problem.touched(moment.attributes) for moment in problem.moments]
    for i, block in enumerate(problem.blocks):
        inside = [k for k, blocks in enumerate(touched) if i in blocks]
        surviving = [k for k in inside if needing[k] and survives[k]]
        found.append(
            Part(
                name=block.name,
                epsilon=float(epsilon[i]),
                share=float(epsilon[i]) / spent if spent > 0 else 0.0,
                slope=None if slope is None else float(slope[i]),
                moments=tuple(problem.moments[k].label for k in inside if needing[k]),
                surviving=tuple(problem.moments[k].label for k in surviving),
                weight_share=float(np.sum(weight[surviving]) / np.sum(weight)) if np.any(weight) else 0.0,
                floors=tuple(problem.moments[k].label for k in inside if holding[k]),
                held=_held(arrays, block, i, float(epsilon[i])),
                members=block.names if block.is_cluster else (),
            )
        )
    return tuple(found)


def _held(arrays: Arrays, block: Block, i: int, epsilon: float) -> Held | None:
    lower, upper = float(arrays.lower[i]), float(arrays.stated_upper[i])
    if lower == upper:
        return "epsilon"
    if lower > 0 and epsilon - lower <= HOLDING * lower:
        return "epsilon_min" if block.most_distorted is None else "distortion_max"
    return "epsilon_max" if upper - epsilon <= HOLDING * epsilon else None


def slopes(arrays: Arrays, epsilon: FloatArray) -> FloatArray | None:
    """d value / d epsilon (M,) on lowering an epsilon; None where the value is undefined or 0."""
    from budget_opt.certificate.prices.conditions import conditions
    from budget_opt.certificate.prices.prices import slope_of_value

    value = objective_value(arrays, epsilon)
    if not np.isfinite(value) or value == 0:
        return None
    if arrays.objective == "max_min":
        touched = arrays.incidence[holding_the_minimum(arrays, epsilon)].sum(axis=0) > 0
        slope: FloatArray = np.where(touched, value, 0.0)
        slope[touched] *= rr.log_retention_slope(epsilon[touched], arrays.cardinality[touched])
        return slope
    on = conditions(arrays, epsilon, HOLDING)
    return slope_of_value(arrays, value) * on.gradient / on.unit + 0.0


def holding_the_minimum(arrays: Arrays, epsilon: FloatArray) -> IntArray:
    """The moments whose ratio to their target is the least, for `max_min`."""
    ratio = np.where(arrays.weight > 0, log_retentions(arrays, epsilon) - np.log(arrays.target), np.inf)
    return np.flatnonzero(ratio <= np.min(ratio) + HOLDING)
