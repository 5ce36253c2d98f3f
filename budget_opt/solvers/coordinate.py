"""The variable of a program: logit lambda, or log lambda where there are ceilings.

In v = logit lambda everything is smooth and of bounded curvature, and a floor is concave; but a ceiling is
not convex. In log lambda floors and ceilings are both linear and budgets convex, so that ceilings leave the
convex objectives convex; the price is an epsilon that grows without limit at v = 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from budget_opt.mechanisms import log_lambda, logit
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray

Slopes = tuple[FloatArray, FloatArray]


class Coordinate(Protocol):
    """Everything about one attribute as a function of v, elementwise."""

    @property
    def end(self) -> float:
        """v stays below."""

    @property
    def digits(self) -> float:
        """Epsilon goes up to log r + `digits` and no further: there lambda is 1 to the last digit."""

    def of(self, epsilon: FloatArray, r: FloatArray) -> FloatArray:
        """v at epsilon."""

    def epsilon(self, v: FloatArray, r: FloatArray) -> FloatArray:
        """Epsilon at v."""

    def epsilon_slopes(self, v: FloatArray, r: FloatArray) -> Slopes:
        """Two derivatives of epsilon, both positive."""

    def log_retention(self, v: FloatArray) -> FloatArray:
        """Log lambda at v."""

    def log_retention_slopes(self, v: FloatArray) -> Slopes:
        """Two derivatives of log lambda, the second not positive."""

    def log_tau(self, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log tau and two derivatives."""


class _Logit:
    end = np.inf
    digits = 40.0

    def of(self, epsilon: FloatArray, r: FloatArray) -> FloatArray:
        v: FloatArray = logit.logit(epsilon, r)
        return v

    def epsilon(self, v: FloatArray, r: FloatArray) -> FloatArray:
        e: FloatArray = logit.epsilon(v, r)
        return e

    def epsilon_slopes(self, v: FloatArray, r: FloatArray) -> Slopes:
        return logit.epsilon_slope(v, r), logit.epsilon_curvature(v, r)

    def log_retention(self, v: FloatArray) -> FloatArray:
        kept: FloatArray = logit.log_retention(v)
        return kept

    def log_retention_slopes(self, v: FloatArray) -> Slopes:
        return logit.log_retention_slope(v), logit.log_retention_curvature(v)

    def log_tau(self, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return -v, np.full_like(v, -1.0), np.zeros_like(v)


class _Log:
    end = 0.0
    digits = 36.0

    def of(self, epsilon: FloatArray, r: FloatArray) -> FloatArray:
        v: FloatArray = rr.log_retention(epsilon, r)
        return v

    def epsilon(self, v: FloatArray, r: FloatArray) -> FloatArray:
        e: FloatArray = log_lambda.epsilon(v, r)
        return e

    def epsilon_slopes(self, v: FloatArray, r: FloatArray) -> Slopes:
        return log_lambda.epsilon_slopes(v, r)

    def log_retention(self, v: FloatArray) -> FloatArray:
        return v

    def log_retention_slopes(self, v: FloatArray) -> Slopes:
        return np.ones_like(v), np.zeros_like(v)

    def log_tau(self, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return log_lambda.log_tau(v)


LOGIT: Coordinate = _Logit()
LOG: Coordinate = _Log()
