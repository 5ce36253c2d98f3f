"""Multipliers from a split alone: what a verifier uses when a file brings no certificate.

At an optimum the derivative of the Lagrangian in v = logit lambda vanishes for every attribute between its
bounds, with multipliers on active rows only: a non-negative least-squares problem. Where the split
is not an optimum of the convex problem (ceilings), or is one to few digits, the dual function itself, which
is smooth and convex, is minimized from there. Any multipliers give a valid bound; these give a good one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.special import expit

from budget_opt.certificate.convex import Frame, log_bound
from budget_opt.certificate.dual import Dual, unit
from budget_opt.certificate.linearization import linearize
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.mechanisms import logit
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.objectives import log_retentions

_ACTIVE = (1e-9, 1e-7, 1e-5, 1e-3)
"""Slacks below which a row counts as active, in logarithms and in shares of a budget; the best is kept."""
_GOOD_ENOUGH = 1e-9
"""On the logarithm of the objective; below it the dual is not minimized further."""


def fit_multipliers(frame: Frame, epsilon: FloatArray) -> Multipliers:
    """The best multipliers found for the split `epsilon` (M,), deterministic."""
    best, least = Multipliers.zero(frame.arrays).sanitized(frame.arrays), np.inf
    for active in _ACTIVE:
        candidate = stationary_multipliers(frame, epsilon, active)
        reached = log_bound(frame, epsilon, candidate)[0]
        if reached < least:
            best, least = candidate, reached
    if least - attained(frame.arrays, epsilon) <= _GOOD_ENOUGH * unit(frame.arrays, epsilon):
        return best
    return _descended(frame, epsilon, best)


def attained(arrays: Arrays, epsilon: FloatArray) -> float:
    """The objective at the split, as `linearize` bounds it."""
    if arrays.objective == "min_epsilon":
        return -float(np.sum(epsilon))
    if arrays.objective == "max_min":
        kept = log_retentions(arrays, epsilon)[arrays.weight > 0]
        return float(np.min(kept - np.log(arrays.target[arrays.weight > 0])))
    linear = linearize(arrays, epsilon, np.zeros(arrays.moments))
    retained = rr.log_retention(epsilon, arrays.cardinality)
    tau = rr.log_tau(epsilon, arrays.cardinality)
    with np.errstate(invalid="ignore"):
        parts = np.where(linear.c > 0, linear.c * retained, 0.0) - np.where(linear.g > 0, linear.g * tau, 0.0)
    return float(linear.constant + np.sum(parts))


@dataclass(frozen=True)
class _Active:
    """Indices of the rows that hold with equality, within a tolerance."""

    floors: IntArray
    moments: IntArray
    budgets: IntArray
    ceilings: IntArray


def _active_rows(frame: Frame, epsilon: FloatArray, tolerance: float) -> _Active:
    arrays = frame.arrays
    kept = log_retentions(arrays, epsilon)
    with np.errstate(invalid="ignore"):
        floors = np.flatnonzero(kept - arrays.log_floor <= tolerance)
        ceilings = np.flatnonzero((arrays.log_ceiling < 0) & (arrays.log_ceiling - kept <= tolerance))
    spent = frame.budgets.coefficient @ epsilon
    budgets = np.flatnonzero(frame.budgets.limit - spent <= tolerance * frame.budgets.limit)
    moments = np.zeros(0, dtype=np.int64)
    if arrays.objective == "max_min":
        used = arrays.weight > 0
        ratio = np.where(used, kept - np.log(arrays.target), np.inf)
        with np.errstate(invalid="ignore"):  # -inf where nothing can survive
            moments = np.flatnonzero(used & (ratio - np.min(ratio) <= tolerance))
    return _Active(floors, moments, budgets, ceilings)


def stationary_multipliers(frame: Frame, epsilon: FloatArray, tolerance: float) -> Multipliers:
    """Non-negative least squares on the stationarity conditions with the rows active at `tolerance`."""
    arrays = frame.arrays
    active = _active_rows(frame, epsilon, tolerance)
    v = logit.logit(epsilon, arrays.cardinality)
    gain, price = expit(-v), logit.epsilon_slope(v, arrays.cardinality)  # of log lambda, of epsilon
    linear = linearize(arrays, epsilon, np.zeros(arrays.moments))
    pull = linear.c * gain + linear.g - linear.cost * price
    scale = np.maximum(frame.budgets.limit, 1e-300)
    rows = arrays.incidence
    columns = [
        rows[active.floors].toarray().T * gain[:, None],
        rows[active.moments].toarray().T * gain[:, None],
        -frame.budgets.coefficient[active.budgets].T * price[:, None] / scale[active.budgets],
        -rows[active.ceilings].toarray().T * gain[:, None],
        np.eye(arrays.blocks)[:, epsilon <= arrays.lower * (1 + tolerance)],
        -np.eye(arrays.blocks)[:, epsilon >= arrays.upper * (1 - tolerance)],
    ]
    matrix, target = np.hstack(columns), -pull
    if arrays.objective == "max_min":
        # the shares of the minimum sum to one
        ones = np.concatenate([np.full(part.shape[1], float(i == 1)) for i, part in enumerate(columns)])
        matrix, target = np.vstack([matrix, ones]), np.append(target, 1.0)
    found = Multipliers.zero(arrays)
    if matrix.shape[1]:
        solution = _least_squares(matrix, target)
        stops = np.cumsum([part.shape[1] for part in columns])
        found.floors[active.floors] = solution[: stops[0]]
        found.moments[active.moments] = solution[stops[0] : stops[1]]
        found.budgets[active.budgets] = solution[stops[1] : stops[2]] / scale[active.budgets]
        found.ceilings[active.ceilings] = solution[stops[2] : stops[3]]
    return found.sanitized(arrays)


def _least_squares(matrix: FloatArray, target: FloatArray) -> FloatArray:
    norm = np.linalg.norm(matrix, axis=0)
    norm = np.where(norm > 0, norm, 1.0)
    size = max(float(np.max(np.abs(target))), 1e-300)
    try:
        solution = nnls(matrix / norm, target / size)[0]
    except RuntimeError:  # its iteration limit: fall back to the clipped plain solution
        solution = np.maximum(np.linalg.lstsq(matrix / norm, target / size, rcond=None)[0], 0.0)
    scaled: FloatArray = solution * size / norm
    return scaled


def _descended(frame: Frame, epsilon: FloatArray, start: Multipliers) -> Multipliers:
    """Minimize the dual function by L-BFGS-B over all multipliers >= 0; the better of start and end."""
    dual = Dual(frame, epsilon, start.point)
    first = dual.pack(start)
    if not first.size:
        return start
    bounds = [(0.0, None)] * first.size
    result = minimize(dual, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    end = dual.unpack(np.asarray(result.x, dtype=np.float64))
    better = log_bound(frame, epsilon, end)[0] < log_bound(frame, epsilon, start)[0]
    return end if better else start
