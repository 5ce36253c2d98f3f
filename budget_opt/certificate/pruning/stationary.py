"""The stationary point near a good split: Newton on the first-order conditions, active set held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes.curvature import curvature, mixed_derivatives
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.tightening import values_and_pulls
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray

_STEPS = 8
_NEAR = 1e-4
"""Share of the total that counts as at a bound, and relative slack of a binding floor."""


@dataclass(frozen=True)
class Stationary:
    """A point (M, 1) and the floors' multipliers (F,) that fit it best; neither need be feasible."""

    x: FloatArray
    kappa: FloatArray


def stationary_near(question: Question, split: FloatArray) -> Stationary:
    """The stationary point, or the split itself with fitting multipliers where Newton leads away from it."""
    x = split[:, None].copy()
    near = _NEAR * float(question.caps[0])
    low, high = x - question.lower < near, question.upper - x < near
    x = np.where(low, question.lower, np.where(high, question.upper, x))
    inner = np.flatnonzero(~(low | high)[:, 0])
    binding = _binding(question, x)
    held = x.copy()
    kappa, price = _fitted(question, x, inner, binding)
    for _ in range(_STEPS):
        if not inner.size:
            break
        step = _newton_step(question, x, inner, binding, (kappa, price))
        if step is None:
            break
        x[inner, 0] += step[: inner.size]
        kappa, price = kappa + step[inner.size : -1], price + step[-1]
        inside = (x >= question.lower) & (x <= question.upper)
        if not np.all(inside) or np.max(np.abs(x - held)) > 100 * near:
            x = held
            kappa, price = _fitted(question, x, inner, binding)
            break
    whole = np.zeros(question.log_floor.size)
    whole[binding] = np.maximum(kappa, 0.0)
    return Stationary(x, whole)


def _binding(question: Question, x: FloatArray) -> IntArray:
    slack = _floor_logs(question, x) - question.log_floor
    return np.flatnonzero(slack < _NEAR * (1 + np.abs(question.log_floor)))


def _floor_logs(question: Question, x: FloatArray) -> FloatArray:
    under = np.any(question.floors > 0, axis=0)
    logs: FloatArray = question.floors @ np.where(
        under, rr.log_retention(np.maximum(x, 1e-300), question.r)[:, 0], 0.0
    )
    return logs


def _slopes(question: Question, x: FloatArray, inner: IntArray, binding: IntArray) -> FloatArray:
    """d log lambda / d e of the binding floors' inner attributes, (n, F)."""
    slope = rr.log_retention_slope(np.maximum(x[inner], 1e-300), question.r[inner])
    found: FloatArray = question.floors[binding][:, inner].T * slope
    return found


def _fitted(
    question: Question, x: FloatArray, inner: IntArray, binding: IntArray
) -> tuple[FloatArray, float]:
    """Least-squares multipliers of floors and total."""
    if not inner.size:
        return np.zeros(binding.size), 0.0
    pull = values_and_pulls(question.layout, rr.retention(x, question.r))[1]
    own = (pull * rr.retention_slope(x, question.r))[inner, 0]
    system = np.column_stack([_slopes(question, x, inner, binding), -np.ones(inner.size)])
    found = np.linalg.lstsq(system, -own, rcond=None)[0]
    return found[:-1], float(found[-1])


def _newton_step(
    question: Question,
    x: FloatArray,
    inner: IntArray,
    binding: IntArray,
    multipliers: tuple[FloatArray, float],
) -> FloatArray | None:
    """The step of inner attributes, floors' multipliers and the total's; None where there is none."""
    kappa, price = multipliers
    layout, r = question.layout, question.r
    z = rr.retention(x, r)
    pull = values_and_pulls(layout, z)[1][:, 0]
    slope = rr.retention_slope(x, r)[:, 0]
    hessian = np.zeros((len(x), len(x)))
    hessian[layout.centre, layout.other] = mixed_derivatives(layout, z)[:, 0]
    hessian *= slope[:, None] * slope
    hessian += np.diag(pull * curvature(x, r)[:, 0])
    inside = hessian[np.ix_(inner, inner)]
    logs = _slopes(question, x, inner, binding)
    bend = rr.log_retention_curvature(np.maximum(x[inner], 1e-150), r[inner])[:, 0]
    inside += np.diag(bend * (question.floors[binding][:, inner].T @ kappa))
    ones = np.ones((inner.size, 1))
    border = np.hstack([logs, -ones])
    system = np.block([[inside, border], [border.T, np.zeros((binding.size + 1, binding.size + 1))]])
    residual = (pull * slope)[inner] + logs @ kappa - price
    slack = _floor_logs(question, x)[binding] - question.log_floor[binding]
    right = -np.concatenate([residual, slack, [float(question.caps[0]) - float(np.sum(x))]])
    try:
        step = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return None
    return step if np.all(np.isfinite(step)) else None
