"""The Newton system of the interior-point method: one Cholesky factor of n x n and a small border.

    (N   U) (dv)   (right hand side)      N = Hessian + sum over rows and bounds of (dual / slack) J J^T
    (U^T D) (z )                          U = level, caps and the rank-one part of the log-sum-exp

Caps are never folded into N: at an active cap dual / slack would drown everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.iterate import Constraints, Iterate, Local
from budget_opt.solvers.program import Program

_SHIFTS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)
"""Added to the unit diagonal until the factor exists."""
_BENT_SHARES = (1.0, 0.95, 0.8, 0.5)
"""Of the non-convex part that is tried, before it is left out."""


@dataclass(frozen=True)
class System:
    """The factored system at one iterate; `solve` gives the step for any aim of the products."""

    constraints: Constraints
    at: Iterate
    local: Local
    factor: Factor
    border: FloatArray
    solved_border: FloatArray
    schur: FloatArray

    def solve(self, aim: FloatArray) -> Iterate | None:
        """The step to slack * dual = aim without residuals, to first order; None on overflow."""
        c, at, here = self.constraints, self.at, self.local
        p = c.program
        short = aim - at.slack * at.dual
        ratio = at.dual / at.slack
        folded = short / at.slack + ratio * here.primal_residual
        folded[c.cuts[0] : c.cuts[1]] = 0.0  # caps stand in the border
        right, level = c.gather(folded, here.l1, here.e1)
        right -= here.dual_residual
        caps = slice(c.cuts[0], c.cuts[1])
        below = -short[caps] / at.dual[caps] - here.primal_residual[caps]
        if p.has_level:
            below = np.append(below, level - here.level_residual)
        if p.spread is not None:
            below = np.append(below, 0.0)
        first = self.factor.solve(right)
        z = np.linalg.solve(self.schur, below - self.border.T @ first) if below.size else below
        dv = first - self.solved_border @ z
        caps_count = p.cap_limit.size
        level_step = float(z[caps_count]) if p.has_level else 0.0
        slack = c.along(dv, level_step, here.l1, here.e1) - here.primal_residual
        dual = (short - at.dual * slack) / at.slack
        if not (np.all(np.isfinite(dv)) and np.all(np.isfinite(slack)) and np.all(np.isfinite(dual))):
            return None
        return Iterate(dv, level_step, slack, dual)


@dataclass(frozen=True)
class Factor:
    """N, scaled to a unit diagonal and factored: by Cholesky, or by LU where N need not be positive."""

    scale: FloatArray
    parts: tuple[FloatArray, Any]
    positive: bool

    def solve(self, right: FloatArray) -> FloatArray:
        """N^-1 right, for (n,) or (n, k)."""
        by = self.scale if right.ndim == 1 else self.scale[:, None]
        scaled = right * by
        if self.positive:
            solution = cho_solve(self.parts, scaled, check_finite=False)
        else:
            solution = lu_solve(self.parts, scaled, check_finite=False)
        unscaled: FloatArray = solution * by
        return unscaled


def system(constraints: Constraints, at: Iterate, here: Local, damping: float = 0.0) -> System | None:
    """Factor the system at an iterate; None where rounding leaves no factor.

    `damping` is added to the curvature of every attribute.
    """
    p = constraints.program
    ratio_rows, ratio_caps, ratio_low, ratio_high = constraints.split(at.dual / at.slack)
    matrix = np.diag(here.curvature + damping)
    matrix[constraints.at_lower, constraints.at_lower] += ratio_low
    matrix[constraints.at_upper, constraints.at_upper] += ratio_high
    matrix += p.row_gram(ratio_rows) * np.outer(here.l1, here.l1)
    if p.spread is not None:
        matrix += p.spread.gram(here.shares) * np.outer(here.phi1, here.phi1)
    diagonal = np.diag(matrix)
    if not np.all(np.isfinite(diagonal)) or not np.all(diagonal > 0):
        return None
    scale = 1.0 / np.sqrt(diagonal)
    border, corner = _border(constraints, at, here, ratio_rows)
    scaled = matrix * np.outer(scale, scale)
    if p.is_convex:
        factor = _positive_factor(scaled, scale)
    else:
        caps = border[:, : ratio_caps.size] * scale[:, None]
        factor = _bent_factor(
            scaled, _bent(p, here) * np.outer(scale, scale), (caps * ratio_caps) @ caps.T, scale
        )
    if factor is None:
        return None
    solved = factor.solve(border) if border.size else border
    return System(constraints, at, here, factor, border, solved, corner - border.T @ solved)


def _bent(program: Program, here: Local) -> FloatArray:
    """What the weighted sum takes off the convex Hessian; positive semidefinite."""
    if program.total is None:
        return np.zeros((program.size, program.size))
    mean = (program.total.rows.T @ here.shares) * here.l1
    bent: FloatArray = program.total.gram(here.shares) * np.outer(here.l1, here.l1) - np.outer(mean, mean)
    return bent


def _positive_factor(scaled: FloatArray, scale: FloatArray) -> Factor | None:
    for shift in _SHIFTS:
        try:
            parts = cho_factor(scaled + shift * np.eye(len(scaled)), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return Factor(scale, parts, positive=True)
    return None


def _bent_factor(
    scaled: FloatArray, bent: FloatArray, folded_caps: FloatArray, scale: FloatArray
) -> Factor | None:
    """The largest share of the non-convex part with which the step descends: N positive along the caps."""
    for share in _BENT_SHARES:
        trial = scaled - share * bent
        try:
            cho_factor(trial + folded_caps, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return Factor(
            scale, lu_factor(trial + 1e-14 * np.eye(len(trial)), check_finite=False), positive=False
        )
    return _positive_factor(scaled, scale)


def _border(
    constraints: Constraints, at: Iterate, here: Local, ratio_rows: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """U and D: caps first, then the level, then the rank-one part of the log-sum-exp."""
    p: Program = constraints.program
    caps = slice(constraints.cuts[0], constraints.cuts[1])
    columns = [p.cap.T * here.e1[:, None]]
    corner = np.diag(-at.slack[caps] / at.dual[caps])
    if p.has_level:
        columns.append(-((p.rows.T @ (ratio_rows * p.row_level)) * here.l1)[:, None])
        level = np.sum(ratio_rows * p.row_level**2)
        corner = _bordered(corner, float(level))
    if p.spread is not None:
        columns.append(((p.spread.rows.T @ here.shares) * here.phi1)[:, None])
        corner = _bordered(corner, 1.0)
    return np.hstack(columns), corner


def _bordered(corner: FloatArray, last: float) -> FloatArray:
    """The corner with one more row and column, 0 but for the diagonal."""
    grown = np.zeros((len(corner) + 1, len(corner) + 1))
    grown[:-1, :-1], grown[-1, -1] = corner, last
    return grown
