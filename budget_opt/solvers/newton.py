"""The Newton system of the interior-point method: one Cholesky factor of n x n and a small border.

    (N   U) (dv)   (right hand side)      N = Hessian + sum over rows and bounds of (dual / slack) J J^T
    (U^T D) (z )                          U = level, caps and the rank-one part of the log-sum-exp

Caps are never folded into N: at an active cap dual / slack would drown everything else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.factor import Coupling, Factor, bent_factor, positive_factor
from budget_opt.solvers.iterate import Constraints, Iterate, Local
from budget_opt.solvers.program import Program, Total


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


def system(constraints: Constraints, at: Iterate, here: Local, damping: float = 0.0) -> System | None:
    """Factor the system at an iterate; None where rounding leaves no factor.

    `damping` is added to the curvature of every attribute.
    """
    p = constraints.program
    ratio_rows, ratio_caps, ratio_low, ratio_high = constraints.split(at.dual / at.slack)
    curvature = here.curvature + damping
    curvature[constraints.at_lower] += ratio_low
    curvature[constraints.at_upper] += ratio_high
    couplings = []
    if p.row_bound.size:
        couplings.append(Coupling(p.incidence, ratio_rows, here.l1))
    if p.spread is not None:
        spread = p.spread
        couplings.append(spread.columns.coupling(spread.incidence, here.shares, here.phi1))
    border, corner = _border(constraints, at, here, ratio_rows)
    if p.total is None:
        factor = positive_factor(curvature, couplings)
    else:
        caps = border[:, : ratio_caps.size]
        factor = bent_factor(curvature, couplings, _bent(p.total, here), (caps * ratio_caps) @ caps.T)
    if factor is None:
        return None
    solved = factor.solve(border) if border.size else border
    return System(constraints, at, here, factor, border, solved, corner - border.T @ solved)


def _bent(total: Total, here: Local) -> FloatArray:
    """What the weighted sum takes off the convex Hessian; positive semidefinite."""
    mean = total.incidence.pulls(here.shares) * here.l1
    bent: FloatArray = total.incidence.gram(here.shares) * np.outer(here.l1, here.l1) - np.outer(mean, mean)
    return bent


def _border(
    constraints: Constraints, at: Iterate, here: Local, ratio_rows: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """U and D: caps first, then the level, then the rank-one part of the log-sum-exp."""
    p: Program = constraints.program
    caps = slice(constraints.cuts[0], constraints.cuts[1])
    columns = [p.cap.T * here.e1[:, None]]
    corner = np.diag(-at.slack[caps] / at.dual[caps])
    if p.has_level:
        columns.append(-(p.incidence.pulls(ratio_rows * p.row_level) * here.l1)[:, None])
        level = np.sum(ratio_rows * p.row_level**2)
        corner = _bordered(corner, float(level))
    if p.spread is not None:
        pull = p.spread.incidence.pulls(here.shares) * here.phi1
        columns.append(p.spread.columns.gathered(pull)[:, None])
        corner = _bordered(corner, 1.0)
    return np.hstack(columns), corner


def _bordered(corner: FloatArray, last: float) -> FloatArray:
    """The corner with one more row and column, 0 but for the diagonal."""
    grown = np.zeros((len(corner) + 1, len(corner) + 1))
    grown[:-1, :-1], grown[-1, -1] = corner, last
    return grown
