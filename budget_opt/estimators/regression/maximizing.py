"""The maximum of the likelihood of `observed`: accelerated expectation-maximization, finished by Newton.

Expectation-maximization never lowers the likelihood and keeps shares >= 0, but crawls where much is hidden;
SQUAREM (Varadhan and Roland 2008, steplength S3) makes it faster, and Newton's method, in beta and in the
relative changes of the shares, ends it where the maximum is inside or its empty cells are known. A point is
accepted only where the likelihood is not lower. Converged is

    beta's next Newton step is below `TOLERANCE` standard errors:   n score' I^-1 score <= TOLERANCE^2
    given beta the shares' log-likelihood, concave, is within `TOLERANCE` of its maximum:
                                                                    n (max_z sum_y p A - 1) <= TOLERANCE
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.joint.likelihood import product_start
from budget_opt.estimators.regression.grid import Grid
from budget_opt.estimators.regression.observed import (
    Information,
    Point,
    View,
    information_at,
    step_from,
    view_of,
)
from budget_opt.estimators.regression.symmetric import least_eigenvalue, solved

TOLERANCE = 1e-4
MOST_ROUNDS = 500
_CYCLES = 2
_NEWTON = 4
_EMPTY = 1e-6
"""Rows below which a cell of the covariates counts as empty, if the likelihood falls with its share."""
_HALVINGS = 30
_ROUNDING = 1e-12
"""Of the log-likelihood a row."""
_SINGULAR = 1e-12


@dataclass(frozen=True)
class Maximum:
    """The point that was reached, seen from the reports, its information, and which shares are above 0."""

    view: View
    information: Information
    active: FloatArray
    rounds: int


def maximum_of(grid: Grid) -> Maximum:
    """The maximum of the likelihood; `NoiseError` where it is not reached in `MOST_ROUNDS` rounds."""
    view = view_of(grid, _start(grid))
    for done in range(MOST_ROUNDS):
        for _ in range(_CYCLES):
            view = _cycle(grid, view)
        for _ in range(_NEWTON):
            active = _active(grid, view)
            information = information_at(grid, view, active)
            if _is_converged(grid, view, information):
                return Maximum(view, information, active, done)
            stepped = _newton(grid, view, information, active)
            if stepped is None:
                break
            view = stepped
    raise NoiseError(
        "the logistic regression: the likelihood has no maximum that was reached in "
        f"{MOST_ROUNDS * (3 * _CYCLES + _NEWTON):,} steps; as a rule a coefficient runs to infinity, because "
        "some combination of covariates hardly has one of the outcomes, or the release says too little. Use "
        "fewer or coarser covariates, or more rows.",
        what="the logistic regression",
        standard_error=math.inf,
        limit=math.inf,
    )


def _start(grid: Grid) -> Point:
    reports = grid.first.sum(axis=-2)
    blocks = reports.sum(axis=tuple(range(reports.ndim - 1)))
    shares = product_start(reports / blocks, grid.covariates) * blocks
    return Point(np.zeros(grid.design.shape[-1]), shares)


def _cycle(grid: Grid, view: View) -> View:
    """Two steps, and a third from the extrapolated point if the likelihood is not lower there."""
    first = _step(grid, view)
    second = _step(grid, first)
    tried = view_of(grid, _extrapolated(view.point, first.point, second.point))
    if math.isfinite(tried.log_likelihood):
        third = _step(grid, tried)
        if third.log_likelihood >= second.log_likelihood - _ROUNDING:
            return third
    return second


def _step(grid: Grid, view: View) -> View:
    """A step of expectation-maximization; beta's is halved until the likelihood is not lower."""
    ahead = step_from(grid, view)
    change = ahead.beta - view.point.beta
    for halving in range(_HALVINGS):
        seen = view_of(grid, Point(view.point.beta + change / 2**halving, ahead.shares))
        if seen.log_likelihood >= view.log_likelihood - _ROUNDING:
            return seen
    return view_of(grid, Point(view.point.beta, ahead.shares))


def _extrapolated(start: Point, middle: Point, end: Point) -> Point:
    r = np.concatenate([middle.beta - start.beta, (middle.shares - start.shares).ravel()])
    v = np.concatenate([end.beta - middle.beta, (end.shares - middle.shares).ravel()]) - r
    bend = float(np.linalg.norm(v))
    a = max(1.0, float(np.linalg.norm(r)) / bend) if bend > 0 else 1.0
    beta = start.beta + 2 * a * (middle.beta - start.beta) + a * a * v[: start.beta.size]
    shares = start.shares + 2 * a * (middle.shares - start.shares)
    shares = shares + a * a * v[start.beta.size :].reshape(start.shares.shape)
    shares = np.where(shares > 0, shares, end.shares)
    return Point(beta, shares / shares.sum())


def _active(grid: Grid, view: View) -> FloatArray:
    """1 for shares that are not empty, and for those that should grow."""
    small = view.point.shares * grid.n < _EMPTY
    active: FloatArray = np.where(small & (view.gradient <= 0), 0.0, 1.0)
    return active


def _is_converged(grid: Grid, view: View, information: Information) -> bool:
    present = view.point.shares > 0
    growth = np.divide(view.gradient, view.point.shares, out=np.zeros_like(view.gradient), where=present)
    if grid.n * float(growth.max()) > TOLERANCE:
        return False
    step = _beta_step(information)
    return step is not None and grid.n * float(information.score @ step) <= TOLERANCE**2


def _beta_step(information: Information) -> FloatArray | None:
    """Newton's step for beta; None where the information is not positive definite: no maximum is near."""
    if least_eigenvalue(information.profile) <= _SINGULAR:
        return None
    return solved(information.profile, information.score)


def _newton(grid: Grid, view: View, information: Information, active: FloatArray) -> View | None:
    """The view from Newton's point, or from half the way there and so on; None where none is higher."""
    step = _beta_step(information)
    if step is None:
        return None
    relative = (information.relative - information.explained @ step) * active
    falling = float(-relative.min()) if relative.size else 0.0
    length = min(1.0, 0.95 / falling) if falling > 0 else 1.0
    for halving in range(4):
        part = length / 2**halving
        shares = view.point.shares * (1 + part * relative)
        tried = view_of(grid, Point(view.point.beta + part * step, shares / shares.sum()))
        if tried.log_likelihood > view.log_likelihood:
            return tried
    return None
