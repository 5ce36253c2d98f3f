"""Multipliers that satisfy the optimality conditions, and how far each may go while they do.

Where several vectors of multipliers do, the optimum has a kink: its derivative in a constraint's number is
the least of them to the one side and the largest to the other (Gauvin and Tolle 1977), two linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, nnls
from scipy.sparse import vstack

from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.prices.conditions import Conditions, conditions
from budget_opt.model.arrays import Arrays, FloatArray

_ACTIVE = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Slacks below which a row counts as active, from the strictest; a solver leaves some."""
_EXACT = 1e-7
"""Relative residual at which no laxer view of what is active is tried."""
TRUSTED = 1e-4
"""Relative residual of the conditions above which the split is no optimum that prices could be read from."""
_MANY, _TOO_MANY = 500, 2500
"""Active rows above which a least-squares problem takes a second, and a minute."""
_UNSEEN = 1e-13
"""Residual, relative to the objective, that its own double does not show."""
_RANK = 1e-7
"""Relative singular value below which columns count as dependent."""


@dataclass(frozen=True)
class Stationary:
    """Multipliers theta (n,) of the conditions, and the largest violation of a condition by them."""

    conditions: Conditions
    theta: FloatArray
    residual: float
    size: float

    @property
    def trusted(self) -> bool:
        """True where the conditions hold to `TRUSTED` of their size, or nothing is left to gain."""
        return self.residual <= max(TRUSTED * self.size, _UNSEEN * self.conditions.size)

    @property
    def slopes(self) -> FloatArray:
        """The Lagrangian's slope of every attribute, per nat, shape (M,)."""
        found: FloatArray = (
            self.conditions.gradient + self.conditions.matrix @ self.theta
        ) / self.conditions.unit
        return found

    @property
    def unique(self) -> bool:
        """True where no other multipliers of these rows satisfy the conditions."""
        on = self.conditions
        shape = on.inner.size + 1, on.matrix.shape[1]
        if shape[1] == 0 or shape[1] > shape[0]:
            return shape[1] == 0
        columns = np.vstack([on.matrix[on.inner].toarray(), on.shares])
        norm = np.linalg.norm(columns, axis=0)
        if np.any(norm == 0):
            return False
        values = np.linalg.svd(columns / norm, compute_uv=False)
        return bool(values[-1] > _RANK * values[0])


def stationary(arrays: Arrays, epsilon: FloatArray, known: Multipliers | None = None) -> Stationary | None:
    """The multipliers that come nearest to the conditions at epsilon (M,), by non-negative least squares.

    Where that would be long, and `known` multipliers of a bound satisfy the conditions, those. None where it
    would be too long and no such multipliers are known.
    """
    if known is not None:
        found = _given(conditions(arrays, epsilon, _ACTIVE[-1]), known)
        if found.trusted and found.conditions.matrix.shape[1] > _MANY:
            return found
    best: Stationary | None = None
    for tolerance in _ACTIVE:
        on = conditions(arrays, epsilon, tolerance)
        if on.matrix.shape[1] > _TOO_MANY:
            break
        found = _fitted(on)
        if best is None or found.residual < 0.1 * best.residual:
            best = found
        if best.residual <= _EXACT * best.size:
            break
    return best


def _given(on: Conditions, known: Multipliers) -> Stationary:
    active = on.active
    parts = (
        known.floors[active.floors],
        known.moments[active.shares],
        known.budgets[active.budgets],
        known.ceilings[active.ceilings],
    )
    return _judged(on, np.concatenate(parts))


def _fitted(on: Conditions) -> Stationary:
    held = ~(on.at_lower & on.at_upper)
    sides = np.where(on.at_lower, 1.0, -1.0)
    one_sided = np.flatnonzero(held & (on.at_lower | on.at_upper))
    slack = np.zeros((on.unit.size, one_sided.size))
    slack[one_sided, np.arange(one_sided.size)] = sides[one_sided]
    summed = np.any(on.shares > 0)
    matrix = np.vstack(
        [np.hstack([on.matrix.toarray(), slack])[held], np.concatenate([on.shares, np.zeros(one_sided.size)])]
    )
    target = np.append(-on.gradient[held], float(summed))
    solution = _least_squares(matrix, target)
    theta = solution[: on.matrix.shape[1]]
    if summed:
        theta = np.where(on.shares > 0, theta / max(float(on.shares @ theta), 1e-300), theta)
    return _judged(on, theta)


def _judged(on: Conditions, theta: FloatArray) -> Stationary:
    """With the largest violation of a condition: 0 between bounds, <= 0 at the lower, >= 0 at the upper."""
    held = ~(on.at_lower & on.at_upper)
    slopes = on.gradient + on.matrix @ theta
    too_high, too_low = np.where(on.at_upper, 0.0, slopes), np.where(on.at_lower, 0.0, -slopes)
    wrong = np.maximum(np.maximum(too_high, too_low), 0.0)
    size = np.abs(on.gradient) + abs(on.matrix) @ theta
    return Stationary(on, theta, float(np.max(wrong, initial=0.0)), float(np.max(size[held], initial=0.0)))


def _least_squares(matrix: FloatArray, target: FloatArray) -> FloatArray:
    if matrix.shape[1] == 0:
        return np.zeros(0)
    norm = np.linalg.norm(matrix, axis=0)
    norm = np.where(norm > 0, norm, 1.0)
    size = max(float(np.max(np.abs(target))), 1e-300)
    try:
        solution = nnls(matrix / norm, target / size)[0]
    except RuntimeError:  # its iteration limit: the clipped plain solution, judged by its residual
        solution = np.maximum(np.linalg.lstsq(matrix / norm, target / size, rcond=None)[0], 0.0)
    scaled: FloatArray = solution * size / norm
    return scaled


def extent(found: Stationary, coefficient: FloatArray) -> tuple[float, float]:
    """The least and largest coefficient @ theta over all multipliers as good as these; may be infinite."""
    on = found.conditions
    unit = max(found.size, 1e-300)
    allowed = 2.0 * found.residual / unit + 1e-10
    not_above = on.matrix[~on.at_upper], allowed - on.gradient[~on.at_upper] / unit
    not_below = -on.matrix[~on.at_lower], allowed + on.gradient[~on.at_lower] / unit
    summed = np.any(on.shares > 0)
    ends = []
    for sign in (1.0, -1.0):
        answer = linprog(
            sign * coefficient,
            A_ub=vstack([not_above[0], not_below[0]], format="csr"),
            b_ub=np.concatenate([not_above[1], not_below[1]]),
            A_eq=on.shares[None, :] if summed else None,
            b_eq=np.array([1.0 / unit]) if summed else None,
            method="highs",
        )
        here = float(coefficient @ found.theta)
        ends.append(here if answer.status == 2 or answer.fun is None else sign * answer.fun * unit)
        if answer.status == 3:
            ends[-1] = -sign * np.inf
    return min(ends[0], here), max(ends[1], here)
