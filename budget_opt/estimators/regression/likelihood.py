"""The coefficients of maximum likelihood from the point that was reached, with their errors."""

from __future__ import annotations

import math

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.regression.basis import Basis
from budget_opt.estimators.regression.grid import Grid
from budget_opt.estimators.regression.maximizing import Maximum
from budget_opt.estimators.regression.observed import report_scores
from budget_opt.estimators.regression.result import Coefficient
from budget_opt.estimators.regression.symmetric import inverse_of

_ROUNDING = 1e-6
_LOST = 100.0
"""Variances by the information over those by a sandwich, from which on the sandwich has lost what tells."""


def likeliest(
    grid: Grid, reached: Maximum, basis: Basis, labels: tuple[str, ...], *, sandwich: bool
) -> list[Coefficient]:
    """The coefficients, with errors from the observed information, or by a sandwich (Huber 1967).

    Where an outcome is nearly separated all scores are near 0, and a sandwich of them is no error: then the
    information's is taken, which shows it. An effective n above n, which is chance, is withheld.

    Raises `NoiseError` where the likelihood hardly depends on one of them.
    """
    view, information = reached.view, reached.information
    inverse = inverse_of(information.profile)
    by_information = inverse / grid.n
    variance = _sandwich(grid, reached, inverse) if sandwich else by_information
    rows = grid.design.reshape(-1, len(inverse))
    weights = (view.point.shares * view.ones * (1 - view.ones)).reshape(-1, 1)
    complete = inverse_of((rows * weights).T @ rows)
    found = []
    for label, t in zip(labels, basis.functionals, strict=True):
        square, plain = float(t @ variance @ t), float(t @ by_information @ t)
        if not square > 0:
            raise _unknown(label)
        square = plain if plain > _LOST * square else square
        effective = float(t @ complete @ t) / square
        found.append(
            Coefficient(
                label=label,
                value=float(t @ view.point.beta),
                standard_error=math.sqrt(square),
                raw=None,
                effective_n=effective if effective <= grid.n * (1 + _ROUNDING) else None,
            )
        )
    return found


def _sandwich(grid: Grid, reached: Maximum, inverse: FloatArray) -> FloatArray:
    scores = report_scores(grid, reached.view, reached.information).reshape(-1, len(inverse))
    meat = (scores * grid.second.reshape(-1, 1)).T @ scores / grid.total**2
    variance: FloatArray = inverse @ meat @ inverse
    return variance


def _unknown(label: str) -> NoiseError:
    return NoiseError(
        f"coefficient of {label}: its error is not known, since the likelihood hardly depends on it: a "
        "combination of covariates is nearly empty, or the noise hides it. Use fewer or coarser covariates, "
        "more rows, or a larger epsilon in the next release.",
        what=f"coefficient of {label}",
        standard_error=math.inf,
        limit=math.inf,
    )
