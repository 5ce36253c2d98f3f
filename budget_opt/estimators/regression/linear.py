"""Linear regression from a release."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.noise_limit import require_noise_limit, require_signal
from budget_opt.estimators.regression.basis import Basis, basis_of
from budget_opt.estimators.regression.features import Functions, features_of, first_of, product_of
from budget_opt.estimators.regression.least_squares import LeastSquares, least_squares, variance_of
from budget_opt.estimators.regression.opening import Opened, require_rows
from budget_opt.estimators.regression.result import Regression
from budget_opt.estimators.regression.slopes import (
    WAY_OUT,
    coefficient_of,
    few_rows,
    near_limit,
    require_left,
    unbounded,
)
from budget_opt.estimators.regression.symmetric import least_eigenvalue, solvable, solved
from budget_opt.estimators.regression.terms import function_of, refused
from budget_opt.estimators.regression.untold import untold
from budget_opt.model.formulas.factor import FormulaError

METHOD = (
    "least squares from the corrected moment matrix, sandwich errors, intervals by Fieller's theorem; "
    "bias of order 1/n from the noise of that matrix"
)
_SINGULAR = 1e-10


def linear(opened: Opened, target: Target, noise_limit: float = 1.0) -> Regression:
    """The least-squares coefficients of the originals, with errors from the target.

    Raises `NoiseError` where the corrected moment matrix of the columns is not positive definite, where what
    the others leave of a column is less than `LEAST_SIGNAL` / noise_limit of its errors from 0, or where a
    coefficient's error is above noise_limit times the largest that it can be (the outcome's half range over
    the deviation that is left of its column); `InputError` for collinear columns and too few rows.
    """
    limit = require_noise_limit(noise_limit)
    columns, n = opened.columns.columns, opened.cells.n
    require_rows(opened)
    basis = _basis(opened)
    features = features_of(basis.functions, opened.cells, opened.channels)
    with solvable("the linear regression"):
        _require_definite(features.matrix()[1:, 1:], basis, opened)
        fit = least_squares(features, basis.functionals, n)
        raw = _raw(basis, opened)
    total = _total(basis, opened)
    values = basis.written(np.array([slope.value for slope in fit.slopes]))
    found = []
    for place, slope in enumerate(fit.slopes):
        label = columns[place].label
        require_left(label, slope, limit)
        one = coefficient_of(label, slope, opened.cells.effective, target, limit)
        require_signal(f"coefficient of {label}", one.standard_error, 1 / math.sqrt(slope.left), limit)
        found.append(
            replace(
                one,
                value=float(values[place]),
                raw=None if raw is None else float(raw[place]),
                standard_error=basis.unit * one.standard_error,
                crossed=basis.unit * one.crossed,
            )
        )
    return Regression(
        formula=opened.formula,
        family="linear",
        method=METHOD,
        target=target,
        n=n,
        coefficients=tuple(found),
        r_squared=1 - fit.residual / total if total > 0 else None,
        residual_variance=basis.unit**2 * fit.residual * n / (n - len(columns)),
        references=opened.columns.references,
        notes=(
            *opened.notes,
            *near_limit(fit.slopes, limit),
            *unbounded(found),
            *(few_rows(opened.columns.labels, fit.slopes) if target == "population" else ()),
            *_notes(fit, total, [one.standard_error / basis.unit for one in found]),
        ),
    )


def _basis(opened: Opened) -> Basis:
    try:
        outcome = function_of(opened.model.response.factors[0], opened.axes)
        if np.ptp(outcome) == 0:
            raise FormulaError(
                f"has the response {opened.model.response.text}, which has one value only", "Choose another."
            )
    except FormulaError as failure:
        raise refused(opened.formula, failure) from None
    columns = opened.columns
    return basis_of(opened.outcome.name, outcome, columns.columns, intercept=columns.intercept)


def _total(basis: Basis, opened: Opened) -> float:
    """The outcome's variance where the columns span a constant, else its mean square, in the basis' units."""
    features = features_of((basis.functions[0], {}), opened.cells, opened.channels)
    return variance_of(features) if opened.columns.constant else float(features.first[0])


def _raw(basis: Basis, opened: Opened) -> FloatArray | None:
    """The coefficients of the released table as it is, None where its columns are collinear."""
    as_they_are = [replace(channel, retention=1.0) for channel in opened.channels]
    moments = first_of(basis.functions, opened.cells, as_they_are)
    if least_eigenvalue(moments[1:, 1:]) <= _SINGULAR:
        return None
    return basis.coefficients(solved(moments[1:, 1:], moments[1:, 0]))


def _require_definite(matrix: FloatArray, basis: Basis, opened: Opened) -> None:
    least = least_eigenvalue(matrix)
    if least > _SINGULAR:
        return
    if all(channel.retention == 1 for channel in opened.channels[1:]) or _are_collinear(basis.functions[1:]):
        raise InputError(
            f"formula: {opened.formula!r} has a column that is a sum of multiples of others. Leave one out."
        )
    raise NoiseError(
        f"columns of the regression: {untold(opened, matrix)}. Their corrected moment matrix is not positive "
        f"definite (least eigenvalue {least:.3g}, their variances scaled to 1): the noise hides what tells "
        f"them apart, or one is a sum of multiples of others. {WAY_OUT}",
        what="columns of the regression",
        standard_error=math.inf,
        limit=0.0,
    )


def _are_collinear(columns: Sequence[Functions]) -> bool:
    """Whether one column is a sum of multiples of others for every record, whatever the data."""
    moments = [
        [math.prod(float(np.mean(f)) for f in product_of(one, other).values()) for other in columns]
        for one in columns
    ]  # of records with all combinations of categories alike
    return least_eigenvalue(np.array(moments)) <= _SINGULAR


def _notes(fit: LeastSquares, total: float, errors: Sequence[float]) -> Iterator[str]:
    pairs = zip(fit.slopes, errors, strict=True)
    worst = max((abs(slope.bias) / error for slope, error in pairs if error > 0), default=0.0)
    if worst > 0.1:
        yield f"the bias by noise in the moment matrix is estimated at up to {worst:.2g} standard errors"
    if fit.residual < 0:
        above = ", and R^2 above 1" if total > 0 else ""
        yield f"the residual variance is estimated below 0{above}, which is noise"
    elif fit.residual > total > 0:
        yield (
            "R^2 is estimated below 0, which is noise: the variances of the outcome and of the residuals are "
            "corrected one by one"
        )
    if total <= 0:
        yield "the variance of the outcome is not estimated above 0, so there is no R^2"
