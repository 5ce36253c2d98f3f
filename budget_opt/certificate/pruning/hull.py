"""The hull test: the tangent plane at the best split ends the search around it (GLOBAL_SOLVER 4.2).

With x the best split and kappa >= 0 the floors' multipliers, Lambda(e) = F(e) + sum_f kappa_f (sum_S log
lambda - log f) is at least F
wherever floors hold. If on the hull of a box and x  -Lambda'' + c 1 1^T  is positive definite, Lambda is
concave where sum e = E, and

    F(e) <= Lambda(x) + Lambda'(x) (e - x)   for all e in the box with sum e = E.

F and Lambda increase in e, so every feasible point can be raised inside its box to spend E, unless the whole
box spends less; then it holds no optimum that spends E, and some other box does. That needs the total as the
only budget, no ceilings, and bounds that let it be spent (GLOBAL_SOLVER_PROOFS 2): `applies`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.curvature import largest_curvature, least_log_curvature, mixed_derivatives
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.stationary import stationary_near
from budget_opt.certificate.pruning.tightening import slope_range, values_and_pulls
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import BoolArray, FloatArray

_OUTWARD = 1e-12
_PIVOT = 1e-9


@dataclass(frozen=True)
class Tangent:
    """Lambda at x (M, 1) with multipliers kappa (F,): value, gradient (M, 1), `pull` kappa summed (M, 1)."""

    x: FloatArray
    kappa: FloatArray
    value: float
    gradient: FloatArray
    pull: FloatArray


def applies(question: Question) -> bool:
    """True where some optimum spends the total, which is the only budget."""
    total = float(question.caps[0])
    alone = len(question.caps) == 1 and not question.log_ceiling.size
    return alone and float(np.sum(question.upper)) >= total


def tangent_at(question: Question, split: FloatArray) -> Tangent:
    """The tangent plane at the stationary point near a split (M,), twins in order."""
    ordered = split.copy()
    for twins in question.twins:
        ordered[twins] = -np.sort(-ordered[twins])
    found = stationary_near(question, ordered)
    return tangent_of(question, found.x, found.kappa)


def tangent_of(question: Question, x: FloatArray, kappa: FloatArray) -> Tangent:
    """The tangent plane at any x (M, 1) >= 0 with any floors' multipliers (F,) >= 0."""
    pulled = (question.floors.T @ kappa)[:, None]
    value, pull = values_and_pulls(question.layout, rr.retention(x, question.r))
    floored = np.maximum(x, 1e-300)
    logs = np.where(pulled > 0, rr.log_retention(floored, question.r), 0.0)
    slopes = np.where(pulled > 0, rr.log_retention_slope(floored, question.r), 0.0)
    slack = float(np.sum(pulled * logs) - kappa @ question.log_floor)
    gradient = pull * rr.retention_slope(x, question.r) + pulled * slopes
    return Tangent(x, kappa, float(value[0]) + slack, gradient, pulled)


def tangent_bounds(question: Question, tangent: Tangent, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Proved bounds (B,) of the boxes (M, B) on which the test succeeds, inf elsewhere."""
    low, high = np.minimum(lower, tangent.x), np.maximum(upper, tangent.x)
    succeeds, heavy = _concave(question, tangent, low, high)
    bounds = np.full(lower.shape[1], np.inf)
    index = np.flatnonzero(succeeds)
    if index.size:
        gain = _most(tangent, lower[:, index], upper[:, index], float(question.caps[0]))
        size = np.abs(tangent.value) + np.sum(np.abs(tangent.gradient) * (high[:, index] + tangent.x), axis=0)
        # x itself may miss the total by a little: along 1 1^T Lambda bends by c at the most
        missed = float(question.caps[0]) - float(np.sum(tangent.x))
        bounds[index] = tangent.value + gain + _OUTWARD * size + 0.5 * heavy[index] * missed**2
    return bounds


def _most(tangent: Tangent, lower: FloatArray, upper: FloatArray, total: float) -> FloatArray:
    """max gradient (e - x) over lower <= e <= upper, sum e = total: the fractional knapsack."""
    order = np.argsort(-tangent.gradient[:, 0], kind="stable")
    widths = (upper - lower)[order]
    room = np.maximum(total - np.sum(lower, axis=0), 0.0)
    before = np.cumsum(widths, axis=0) - widths
    taken = np.clip(room - before, 0.0, widths)
    gradient = tangent.gradient[order]
    most: FloatArray = np.sum(gradient * (lower[order] - tangent.x[order] + taken), axis=0)
    return most


def _concave(
    question: Question, tangent: Tangent, low: FloatArray, high: FloatArray
) -> tuple[BoolArray, FloatArray]:
    """True where Lambda is proved concave on the hull, along sum e = E; and the c of each box."""
    r, layout = question.r, question.layout
    z_low, z_high = rr.retention(low, r), rr.retention(high, r)
    pull_low, pull_high = values_and_pulls(layout, z_low)[1], values_and_pulls(layout, z_high)[1]
    steep_low, steep_high = slope_range(low, high, r)
    bend = largest_curvature(low, high, r)
    diagonal = np.where(bend > 0, bend * pull_high, bend * pull_low)
    diagonal = diagonal - tangent.pull * least_log_curvature(low, high, r) * (1 - _OUTWARD)
    i, j = layout.centre, layout.other
    least = mixed_derivatives(layout, z_low) * steep_low[i] * steep_low[j] * (1 - _OUTWARD)
    most = mixed_derivatives(layout, z_high) * steep_high[i] * steep_high[j] * (1 + _OUTWARD)
    radius = layout.pairs_to_centre @ (0.5 * (most - least))
    matrix = np.zeros((len(low), len(low), low.shape[1]))
    matrix[i, j] = -0.5 * (most + least)
    size = np.max(np.abs(diagonal), axis=0) + np.max(np.abs(matrix), axis=(0, 1)) + 1e-300
    heavy = 100.0 * size
    matrix += heavy
    own = np.arange(len(low))
    # nothing moves along an attribute without any width
    still = high <= low
    matrix[own, own] += np.where(still, heavy * len(low), -diagonal - radius - _OUTWARD * size)
    return _positive_definite(matrix, heavy), heavy


def _positive_definite(matrix: FloatArray, size: FloatArray) -> BoolArray:
    """Cholesky of matrices (M, M, B), side by side: True where all pivots are above rounding."""
    possible = np.ones(size.shape, dtype=bool)
    for k in range(len(matrix)):
        pivot = matrix[k, k]
        possible &= pivot > _PIVOT * size
        if not np.any(possible):
            break
        if k + 1 < len(matrix):
            row = matrix[k, k + 1 :]
            matrix[k + 1 :, k + 1 :] -= row[:, None] * (row / np.where(possible, pivot, np.inf))[None]
    return possible
