"""Linear regression from the corrected moment matrix, with sandwich errors (DESIGN 2.2, 2.3, 2.10).

Letters: x the columns, y the outcome, M = E x x', m = E x y, beta = M^-1 m: the least-squares fit of the
target, whether the model is true or not. F are the products of two of z = (y, x), F^ their unbiased images
(`features`), e = y - x' beta the residual. A coefficient is beta_t = t' beta with a constant t (a unit
vector, but for the intercept of centred columns). With r = x' M^-1 t B, B = 1 / (t' M^-1 t) = E r^2, what the
other columns leave of its own column, beta_t is the slope of y on r, and the influence function of its
estimate is

    (r e)^ / B,   r e = r' F e a sum of products F, so that its variance is a quadratic form:
    population  Var (r e)^        = gram of `features`    (Huber 1967, White 1980; W2 of DESIGN 2.3; with
                                    n / (n - p) for the sampling's part, as HC1 of MacKinnon and White 1985)
    data        E Var((r e)^ | x) = its noise

B is noisy as well: beta_t is a ratio, (r (e + beta_t r))^ over (r^2)^, and its interval that of Fieller's
theorem (`ratio`), which allows for showing beta_t only where B is told from 0 (`shown`). Only the
randomization's noise moves with the denominator: without any the interval is the normal one. To the second
order in the noise of M the estimate is off by - M^-1 c, c_j = sum_k Cov(M^_jk,
(M^-1 u^)_k), u = x e, of order 1/n: it is estimated and told, not subtracted, because the interval allows for
it already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.regression.features import Features
from budget_opt.estimators.regression.slopes import Slope, rows_behind
from budget_opt.estimators.regression.symmetric import inverse_of


@dataclass(frozen=True)
class LeastSquares:
    """The slopes, and the mean squared residual, corrected for the noise in the fit."""

    slopes: tuple[Slope, ...]
    residual: float


def least_squares(features: Features, functionals: FloatArray, n: int) -> LeastSquares:
    """The fit of the first function of `features` on the others, whose moment matrix must be invertible.

    A row t of `functionals` asks for the coefficient t' beta; `n` is the number of rows.
    """
    fit = _fit(features)
    moments = features.matrix()
    crowding = n / (n - len(fit.beta))
    slopes = tuple(_slope(fit, t, crowding) for t in functionals)
    data = fit.influence @ fit.covariance  # of beta
    square = float(fit.residual @ moments @ fit.residual + np.trace(moments[1:, 1:] @ data))
    return LeastSquares(slopes, square)


def variance_of(features: Features) -> float:
    """The variance of the first of two functions, of which the second is 1, without bias by the noise."""
    moments, mean = features.matrix(), features.places[0, 1]
    return float(moments[0, 0] - moments[0, 1] ** 2 + features.noise[mean, mean])


@dataclass(frozen=True)
class _Fit:
    """M^-1, beta, e by z, x e by the products F, the influence M^-1 x e, and Cov(F^, beta^ | x)."""

    features: Features
    inverse: FloatArray
    beta: FloatArray
    residual: FloatArray
    scores: FloatArray
    influence: FloatArray
    covariance: FloatArray


def _fit(features: Features) -> _Fit:
    moments, places = features.matrix(), features.places
    inverse = inverse_of(moments[1:, 1:])
    beta = inverse @ moments[1:, 0]
    residual = np.concatenate([[1.0], -beta])
    scores = np.zeros((beta.size, features.first.size))
    for j, row in enumerate(places[1:]):
        scores[j, row] = residual  # pairs that share a place are 0
    influence = inverse @ scores
    return _Fit(features, inverse, beta, residual, scores, influence, features.noise @ influence.T)


def _slope(fit: _Fit, t: FloatArray, crowding: float) -> Slope:
    places = fit.features.places[1:, 1:]
    noise = fit.features.noise
    direction = fit.inverse @ t
    left = 1 / float(t @ direction)
    r = left * direction
    error = r @ fit.scores
    square = np.zeros(error.size)
    np.add.at(square, places, np.outer(r, r))
    shift = fit.covariance[places, np.arange(r.size)].sum(axis=1)  # c
    return Slope(
        value=float(t @ fit.beta),
        left=left,
        sampling=crowding * float(error @ fit.features.original @ error),
        noise=float(error @ noise @ error),
        crossed=float(error @ noise @ square),
        left_noise=float(square @ noise @ square),
        rows=rows_behind(left, float(square @ fit.features.original @ square)),
        bias=-float(direction @ shift),
    )
