"""Logistic regression from a release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.noise_limit import require_noise_limit, require_signal
from budget_opt.estimators.regression.basis import Basis, basis_of
from budget_opt.estimators.regression.corrected_score import corrected_slopes
from budget_opt.estimators.regression.functions import is_plain
from budget_opt.estimators.regression.grid import Grid, grid_of
from budget_opt.estimators.regression.maximizing import Maximum, maximum_of
from budget_opt.estimators.regression.observed import report_scores
from budget_opt.estimators.regression.opening import Opened
from budget_opt.estimators.regression.result import Coefficient, Regression
from budget_opt.estimators.regression.slopes import coefficient_of, require_left
from budget_opt.estimators.regression.symmetric import inverse_of
from budget_opt.estimators.regression.terms import refused, text_of
from budget_opt.model.formulas.factor import FormulaError

LEAST_ROWS = 10
"""Rows for each true cell of the covariates, whose shares are parameters too, where some are randomized."""
LARGEST_EFFECT = 2 * math.log(99)
"""Log odds from a probability of 1 % to 99 %, over the range of a column: more cannot be seen."""
SEPARATED = 50.0
"""A standard error, in log odds over half a column's range, that only a likelihood without a maximum has."""
_LIKELIHOOD = "maximum likelihood of the reports by expectation-maximization and Newton, errors from "
METHODS = {
    "data": "corrected score equations, errors by the randomization alone; bias of order 1/n from its noise",
    "weighted": f"{_LIKELIHOOD}a sandwich with the survey weights; bias of order 1/n",
    "population": f"{_LIKELIHOOD}the observed information; bias of order 1/n",
}


def logistic(opened: Opened, target: Target, noise_limit: float = 1.0) -> Regression:
    """The logistic coefficients of an outcome of two categories, with errors from the target.

    Raises `InputError` for another outcome, too many or too rare cells of the covariates and collinear
    columns, and `NoiseError` for a separated outcome, for a likelihood whose maximum is not reached, where a
    coefficient's error is above noise_limit times `LARGEST_EFFECT` over the range of its column, and where
    the noise hides what tells the columns apart.
    """
    limit = require_noise_limit(noise_limit)
    outcome = _outcome(opened)
    basis = basis_of(
        opened.outcome.name, np.array([0.0, 1.0]), opened.columns.columns, intercept=opened.columns.intercept
    )
    grid = grid_of(opened, basis.functions[1:], outcome)
    _require_rows(grid, opened.formula)
    _require_separate(grid, opened.formula)
    reached = maximum_of(grid)
    if target == "data":
        found = _by_scores(opened, grid, reached, basis, limit)
    else:
        found = _by_likelihood(opened, grid, reached, basis)
    raw = _raw(opened, basis, outcome)
    for place, one in enumerate(found):
        _require_sound(one, _range_of(grid, basis, place), limit, opened.formula)
    weighted = opened.cells.weights is not None
    return Regression(
        formula=opened.formula,
        family="logistic",
        method=METHODS["data" if target == "data" else "weighted" if weighted else "population"],
        target=target,
        n=grid.n,
        coefficients=tuple(
            replace(one, raw=None if raw is None else float(raw[place])) for place, one in enumerate(found)
        ),
        log_likelihood=None if target == "data" else _log_likelihood(grid, reached),
        references=(_counted_as(opened, outcome), *opened.columns.references),
        notes=(*opened.notes, *_notes(reached, target)),
    )


def _outcome(opened: Opened) -> npt.NDArray[np.intp]:
    """0 or 1 for each of the two categories."""
    axis = opened.outcome
    limit = f"has the response {opened.model.response.text}"
    if not is_plain(opened.model.response.factors[0]):
        failure = FormulaError(f"{limit}, which is no attribute", "Name an attribute with two categories.")
        raise refused(opened.formula, failure)
    if len(axis.labels) != 2 or axis.scores is None or set(axis.scores) != {0.0, 1.0}:
        remedy = f'It must have two, and scores, if any are given, of 0 and 1: {{"{axis.name}": [1, 0]}}.'
        failure = FormulaError(f"{limit}, which has {len(axis.labels)} categories", remedy)
        raise refused(opened.formula, failure)
    return axis.scores.astype(np.intp)


def _counted_as(opened: Opened, outcome: npt.NDArray[np.intp]) -> str:
    label = opened.outcome.labels[int(np.argmax(outcome))]
    return f"the outcome is the probability of {opened.outcome.name} = {text_of(label)}"


def _require_rows(grid: Grid, formula: str) -> None:
    size = grid.patterns * grid.first.shape[-1]
    if grid.patterns > 1 and grid.n < LEAST_ROWS * size:
        raise InputError(
            f"formula: {formula!r} has {size:,} true cells of covariates, whose shares are estimated too, "
            f"and there are {grid.n:,} rows, fewer than {LEAST_ROWS} for each. Use fewer or coarser "
            'covariates (public numbers: put into groups), more rows, or family="linear".'
        )


def _require_separate(grid: Grid, formula: str) -> None:
    rows = grid.design.reshape(-1, grid.design.shape[-1])
    if np.linalg.matrix_rank(rows.T @ rows) < rows.shape[1]:
        raise InputError(
            f"formula: {formula!r} has a column that is a sum of multiples of others. Leave one out."
        )


def _by_likelihood(opened: Opened, grid: Grid, reached: Maximum, basis: Basis) -> list[Coefficient]:
    view, information = reached.view, reached.information
    inverse = inverse_of(information.profile)
    variance = inverse / grid.n
    if opened.cells.weights is not None:
        scores = report_scores(grid, view, information).reshape(-1, len(inverse))
        meat = (scores * grid.second.reshape(-1, 1)).T @ scores / grid.total**2
        variance = inverse @ meat @ inverse
    rows = grid.design.reshape(-1, len(inverse))
    weights = (view.point.shares * view.ones * (1 - view.ones)).reshape(-1, 1)
    complete = inverse_of((rows * weights).T @ rows)
    found = []
    for column, t in zip(opened.columns.columns, basis.functionals, strict=True):
        square = float(t @ variance @ t)
        found.append(
            Coefficient(
                label=column.label,
                value=float(t @ view.point.beta),
                standard_error=math.sqrt(square),
                raw=None,
                effective_n=float(t @ complete @ t) / square,
            )
        )
    return found


def _by_scores(opened: Opened, grid: Grid, reached: Maximum, basis: Basis, limit: float) -> list[Coefficient]:
    found = []
    slopes = corrected_slopes(grid, reached.view.point.beta, basis.functionals)
    for column, slope in zip(opened.columns.columns, slopes, strict=True):
        require_left(column.label, slope, limit)
        found.append(coefficient_of(column.label, slope, opened.cells.effective, "data"))
    return found


def _raw(opened: Opened, basis: Basis, outcome: npt.NDArray[np.intp]) -> FloatArray | None:
    """The coefficients of the released table as it is; None where its outcome is separated."""
    channels = tuple(replace(channel, retention=1.0) for channel in opened.channels)
    grid = grid_of(replace(opened, channels=channels), basis.functions[1:], outcome)
    try:
        raw: FloatArray = basis.functionals @ maximum_of(grid).view.point.beta
    except NoiseError:
        return None
    return raw


def _log_likelihood(grid: Grid, reached: Maximum) -> float:
    """Of the outcome's reports given those of the covariates."""
    covariates, law = grid.first.sum(axis=-2), reached.view.law.sum(axis=-2)
    alone = float(np.sum(xlogy(covariates, law)))
    return grid.total * (reached.view.log_likelihood - alone)


def _range_of(grid: Grid, basis: Basis, place: int) -> float:
    """How far the column reaches, as it is written; 1 for the intercept."""
    return float(np.ptp(grid.design[..., place])) / basis.functionals[place, place] or 1.0


def _require_sound(one: Coefficient, reach: float, limit: float, formula: str) -> None:
    what = f"coefficient of {one.label}"
    if one.standard_error * reach / 2 > SEPARATED:
        raise NoiseError(
            f"formula: {formula!r}: the {what} runs to infinity (standard error {one.standard_error:.3g}): "
            "some combination of covariates hardly has one of the outcomes, or the noise hides it. Use fewer "
            "or coarser covariates, more rows, or a larger epsilon in the next release.",
            what=what,
            standard_error=one.standard_error,
            limit=2 * SEPARATED / reach,
        )
    require_signal(what, one.standard_error, LARGEST_EFFECT / reach, limit)


def _notes(reached: Maximum, target: Target) -> Iterator[str]:
    empty = int(reached.active.size - reached.active.sum())
    if empty and target == "population":
        yield (
            f"{empty} of {reached.active.size} combinations of covariates are estimated to be empty; the "
            "errors take that as known (intervals of 95 % were measured to cover in 92 to 98 %)"
        )
