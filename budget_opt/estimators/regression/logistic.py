"""Logistic regression from a release."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.noise_limit import require_noise_limit, require_signal
from budget_opt.estimators.regression.agreement import agreement_of
from budget_opt.estimators.regression.basis import Basis, basis_of
from budget_opt.estimators.regression.corrected_score import corrected_score
from budget_opt.estimators.regression.functions import is_plain
from budget_opt.estimators.regression.grid import Grid, grid_of
from budget_opt.estimators.regression.likelihood import likeliest
from budget_opt.estimators.regression.maximizing import Maximum, maximum_of
from budget_opt.estimators.regression.opening import Opened, require_rows
from budget_opt.estimators.regression.result import Coefficient, LogisticMethod, Regression
from budget_opt.estimators.regression.slopes import (
    coefficient_of,
    few_rows,
    near_limit,
    require_left,
    unbounded,
)
from budget_opt.estimators.regression.symmetric import solvable
from budget_opt.estimators.regression.terms import refused
from budget_opt.model.formulas.factor import FormulaError

LEAST_ROWS = 10
"""Rows for each true cell of the covariates, whose shares are parameters too, where some are randomized."""
LARGEST_EFFECT = 2 * math.log(99)
"""Log odds from a probability of 1 % to 99 %, over the range of a column: more cannot be seen."""
SEPARATED = 50.0
"""A standard error, in log odds over half a column's range, that only a likelihood without a maximum has."""
_LIKELIHOOD = "maximum likelihood of the reports by expectation-maximization and Newton, errors from "
_SCORE = "corrected score equations, errors by the "
METHODS = {
    "information": f"{_LIKELIHOOD}the observed information; bias of order 1/n",
    "sandwich": f"{_LIKELIHOOD}a sandwich with the survey weights; bias of order 1/n",
    "misfit": f"{_LIKELIHOOD}a sandwich, since the model does not hold",
    "data": f"{_SCORE}randomization alone; bias of order 1/n from its noise",
    "population": f"{_SCORE}sampling and the randomization; bias of order 1/n from its noise",
}


def logistic(
    opened: Opened, target: Target, noise_limit: float = 1.0, method: LogisticMethod | None = None
) -> Regression:
    """The logistic coefficients of an outcome of two categories, with errors from the target.

    `method` None is "likelihood" for the population and "corrected score" for the data, which has no other.

    Raises `InputError` for another outcome, too many or too rare cells of the covariates, collinear columns
    and a method that is not the target's, and `NoiseError` for a separated outcome, for a likelihood whose
    maximum is not reached, where a coefficient's error is above noise_limit times `LARGEST_EFFECT` over the
    range of its column, and where the noise hides what tells the columns apart.
    """
    limit = require_noise_limit(noise_limit)
    by_scores = _is_by_scores(method, target)
    outcome = _outcome(opened)
    require_rows(opened)
    basis = basis_of(
        opened.outcome.name, np.array([0.0, 1.0]), opened.columns.columns, intercept=opened.columns.intercept
    )
    grid = grid_of(opened, basis.functions[1:], outcome)
    _require_cells(grid, opened)
    _require_separate(grid, opened.formula)
    with solvable("the logistic regression"):
        reached = maximum_of(grid)
        fit = _by_scores if by_scores else _by_likelihood
        found = fit(opened, grid, reached, basis, target, limit)
        raw = _raw(opened, basis, outcome)
    for place, one in enumerate(found.coefficients):
        _require_sound(one, _range_of(grid, basis, place), limit, opened.formula)
    return Regression(
        formula=opened.formula,
        family="logistic",
        method=found.method,
        target=target,
        n=grid.n,
        coefficients=tuple(
            replace(one, raw=None if raw is None else float(raw[place]))
            for place, one in enumerate(found.coefficients)
        ),
        log_likelihood=None if by_scores else _log_likelihood(grid, reached),
        references=(_counted_as(opened, outcome), *opened.columns.references),
        notes=(*found.notes, *opened.notes),
    )


def _is_by_scores(method: LogisticMethod | None, target: Target) -> bool:
    if method not in (None, *get_args(LogisticMethod)):
        raise InputError(f'method: is {method!r}, must be "likelihood" or "corrected score" (or None).')
    if method == "likelihood" and target == "data":
        raise InputError(
            'method: is "likelihood", which does not estimate the fit of the data. Use "corrected score", or '
            'target="population".'
        )
    return target == "data" or method == "corrected score"


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
    label = opened.outcome.texts[int(np.argmax(outcome))]
    return f"the outcome is the probability of {opened.outcome.name} = {label}"


def _require_cells(grid: Grid, opened: Opened) -> None:
    size = grid.patterns * grid.first.shape[-1]
    rows = min(grid.n, opened.cells.effective)
    if grid.patterns > 1 and rows < LEAST_ROWS * size:
        raise InputError(
            f"formula: {opened.formula!r} has {size:,} true cells of covariates, whose shares are estimated "
            f"too, and there are {rows:,.0f} rows (or as many as weighted ones are worth), fewer than "
            f"{LEAST_ROWS} for each. Use fewer or coarser covariates (public numbers: put into groups), more "
            'rows, or family="linear".'
        )


def _require_separate(grid: Grid, formula: str) -> None:
    rows = grid.design.reshape(-1, grid.design.shape[-1])
    if np.linalg.matrix_rank(rows.T @ rows) < rows.shape[1]:
        raise InputError(
            f"formula: {formula!r} has a column that is a sum of multiples of others. Leave one out."
        )


@dataclass(frozen=True)
class _Found:
    """What a method gives, and what it says of it."""

    coefficients: list[Coefficient]
    method: str
    notes: tuple[str, ...]


def _by_likelihood(
    opened: Opened, grid: Grid, reached: Maximum, basis: Basis, _: Target, __: float
) -> _Found:
    checked = None
    if any(channel.retention < 1 for channel in grid.channels):
        checked = agreement_of(grid, reached, basis.functionals)
    weighted, misfit = opened.cells.weights is not None, checked is not None and not checked.holds
    labels = opened.columns.labels
    found = likeliest(grid, reached, basis, labels, sandwich=weighted or misfit)
    method = METHODS["misfit" if misfit else "sandwich" if weighted else "information"]
    said = () if checked is None else tuple(checked.notes())
    return _Found(found, method, (*said, *_notes(reached), *_withheld(found, grid.n)))


def _by_scores(
    opened: Opened, grid: Grid, reached: Maximum, basis: Basis, target: Target, limit: float
) -> _Found:
    labels, effective = opened.columns.labels, opened.cells.effective
    slopes = corrected_score(grid, reached.view.point.beta).slopes(basis.functionals)
    found = []
    for label, slope in zip(labels, slopes, strict=True):
        require_left(label, slope, limit)
        found.append(coefficient_of(label, slope, effective, target, limit))
    few = few_rows(labels, slopes) if target == "population" else ()
    return _Found(found, METHODS[target], (*near_limit(slopes, limit), *unbounded(found), *few))


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
    return float(np.ptp(grid.design[..., place]) / basis.functionals[place, place]) or 1.0


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


def _withheld(coefficients: Sequence[Coefficient], n: int) -> Iterator[str]:
    labels = [one.label for one in coefficients if one.effective_n is None]
    if labels:
        yield f"the effective n of {', '.join(labels)} comes out above {n:,} by chance, and is withheld"


def _notes(reached: Maximum) -> Iterator[str]:
    empty = int(reached.active.size - reached.active.sum())
    if empty:
        yield (
            f"{empty} of {reached.active.size} combinations of covariates are estimated to be empty; the "
            "errors take that as known (intervals of 95 % were measured to cover in 92 to 98 %)"
        )
