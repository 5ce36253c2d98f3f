"""Logistic regression by corrected score equations: for the fit of the original table, true or not.

The fit of the originals solves sum_i e(x_i) = 0 with the score e = x (y - p), a function of the record. Its
unbiased image e^ of the reports (along the channels of outcome and covariates, DESIGN 2.1) gives equations
with the same expectation given the data, so that their solution is measured from that fit, and from that of
the population (a corrected score: Nakamura 1990). The sum of e^ over the reports is the sum of e over the
corrected table T of truths, so it is logistic regression on T, cells of which may be negative. Maximum
likelihood of the reports weighs records otherwise than the originals' fit does, and differs from it by more
than the randomization where the model is not exactly true.

Errors as in `least_squares`, with M = sum T p (1 - p) x x', r e = r' x (y - p) and p (1 - p) (r' x)^2 in the
place of r^2; the influence of a report on beta is M^-1 e^.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.regression.grid import Grid
from budget_opt.estimators.regression.slopes import WAY_OUT, Slope, rows_behind
from budget_opt.estimators.regression.symmetric import inverse_of, is_definite, solved

MOST_STEPS = 100
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class CorrectedScore:
    """The solution `beta`, and the `inverse` of its information a row."""

    grid: Grid
    beta: FloatArray
    inverse: FloatArray

    def slopes(self, functionals: FloatArray) -> tuple[Slope, ...]:
        """The coefficients t' beta for the rows t of `functionals`."""
        errors = _Errors(self.grid, expit(self.grid.design @ self.beta))
        return tuple(_slope(errors, self.inverse, self.beta, t) for t in functionals)

    def influence(self) -> FloatArray:
        """How much a report moves beta, of the mean over the reports; shape (r_1, .., r_k, 2, G, p)."""
        design, ones = self.grid.design, expit(self.grid.design @ self.beta)
        scores = np.stack([-ones[..., None] * design, (1 - ones)[..., None] * design], axis=-3)
        influence: FloatArray = along_all(Channel.unbiased, self.grid.channels, scores) @ self.inverse
        return influence


def corrected_score(grid: Grid, start: FloatArray) -> CorrectedScore:
    """The solution of the equations by Newton's method from `start`.

    Raises `NoiseError` where the corrected information is not positive definite, or Newton's method does not
    end.
    """
    shares = along_all(Channel.corrected, grid.channels, grid.first)
    beta = start
    for _ in range(MOST_STEPS):
        score, information = _equations(grid, shares, beta)
        step = solved(information, score)
        beta = beta + step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) <= _TOLERANCE * (1 + float(np.abs(beta).max())):
            break
    else:
        raise _refused("Newton's method did not end")
    return CorrectedScore(grid, beta, inverse_of(_equations(grid, shares, beta)[1]))


def _equations(grid: Grid, shares: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corrected score a row, and its information, which must be positive definite."""
    ones = expit(grid.design @ beta)
    both = shares.sum(axis=-2)
    rows = grid.design.reshape(-1, beta.size)
    score = rows.T @ (shares[..., 1, :] - both * ones).reshape(-1)
    information = (rows * (both * ones * (1 - ones)).reshape(-1, 1)).T @ rows
    if not is_definite(information):
        raise _refused("their information is not positive definite")
    return score, information


def _refused(why: str) -> NoiseError:
    return NoiseError(
        f"the corrected score equations of the logistic regression: {why}: the noise hides what tells the "
        f'covariates apart. {WAY_OUT} Or take target="population" and method="likelihood": it needs less.',
        what="the logistic regression",
        standard_error=np.inf,
        limit=0.0,
    )


@dataclass(frozen=True)
class _Errors:
    """Sums over the reports of products of two unbiased images, and unbiased ones of the products."""

    grid: Grid
    ones: FloatArray

    def original(self, one: FloatArray, other: FloatArray) -> float:
        """Unbiased for sum w^2 one other / (sum w)^2 over the records, of two functions of a true cell."""
        squares = along_all(Channel.corrected, self.grid.channels, self.grid.second)
        return float(np.sum(squares * one * other)) / self.grid.total**2

    def gram(self, one: FloatArray, other: FloatArray) -> float:
        """The same of their unbiased images, over the reports."""
        images = (along_all(Channel.unbiased, self.grid.channels, function) for function in (one, other))
        product = self.grid.second
        for image in images:
            product = product * image
        return float(np.sum(product)) / self.grid.total**2

    def noise(self, one: FloatArray, other: FloatArray) -> float:
        """The covariance given the data of the means of both images."""
        return self.gram(one, other) - self.original(one, other)


def _slope(errors: _Errors, inverse: FloatArray, beta: FloatArray, t: FloatArray) -> Slope:
    direction = inverse @ t
    left = 1 / float(t @ direction)
    r = errors.grid.design @ (left * direction)
    error = np.stack([-r * errors.ones, r * (1 - errors.ones)], axis=-2)
    square = np.repeat((r**2 * errors.ones * (1 - errors.ones))[..., None, :], 2, axis=-2)
    return Slope(
        value=float(t @ beta),
        left=left,
        sampling=errors.original(error, error),
        noise=errors.noise(error, error),
        crossed=errors.noise(error, square),
        left_noise=errors.noise(square, square),
        rows=rows_behind(left, errors.original(square, square)),
    )
