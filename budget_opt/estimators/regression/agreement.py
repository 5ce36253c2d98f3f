"""Whether the likelihood's fit and the corrected score's differ by more than chance (after Hausman 1978).

The corrected score's solution is consistent for the population's own fit whether the logistic model is true
or not; the maximum of the likelihood only where it is true, and then more precise. Their difference is, to
the first order, the mean over the reports of the difference of their influences, which gives its variance
without any assumption on which of both is more precise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import normal_quantile
from budget_opt.estimators.regression.corrected_score import CorrectedScore, corrected_score
from budget_opt.estimators.regression.grid import Grid
from budget_opt.estimators.regression.maximizing import Maximum
from budget_opt.estimators.regression.observed import report_scores
from budget_opt.estimators.regression.slopes import LEAST_SIGNAL
from budget_opt.estimators.regression.symmetric import inverse_of

LEVEL = 0.01
"""How often a true model is said not to hold, for all coefficients together (Bonferroni)."""
_NEGLIGIBLE = 0.01
"""Of the likelihood's error: an error of the difference that is below it is that of the iterations."""


@dataclass(frozen=True)
class Agreement:
    """The largest difference of both fits in units of its error, the limit, and how it is told.

    `blind` is the largest difference that passes as chance, in errors of the likelihood's coefficient.
    `largest` is None where the corrected score is not known well enough to compare.
    """

    largest: float | None
    limit: float
    blind: float = math.inf

    @property
    def holds(self) -> bool:
        """False where the model is refuted."""
        return self.largest is None or self.largest <= self.limit

    def notes(self) -> Iterator[str]:
        """What the reader of the likelihood's fit must know of it."""
        if self.largest is None:
            yield (
                "the corrected score has no solution that is told from noise here, so whether the logistic "
                "model holds was not examined; where it does not, the likelihood's fit is not that of the "
                "population"
            )
        elif self.holds:
            yield (
                "the likelihood's fit and the corrected score's agree within the noise of their difference "
                f"({self.largest:.2g} of its errors, the limit {self.limit:.3g} at level {LEVEL:g}), as they "
                "do where the logistic model holds; where it does not, a coefficient may be off by up to "
                f"{self.blind:.2g} of its standard errors before that shows"
            )
        else:
            yield (
                "the logistic model does not hold: the likelihood's fit and the corrected score's differ by "
                f"{self.largest:.3g} errors of their difference, the limit {self.limit:.3g} at level "
                f"{LEVEL:g}. What the likelihood estimates then depends on the noise, and is not the "
                'population\'s own fit; method="corrected score" estimates that'
            )


def agreement_of(grid: Grid, reached: Maximum, functionals: FloatArray) -> Agreement:
    """Both fits compared in the coefficients t' beta for the rows t of `functionals`."""
    limit = normal_quantile(1 - LEVEL / len(functionals))
    try:
        other = corrected_score(grid, reached.view.point.beta)
    except NoiseError:
        return Agreement(None, limit)
    if min(slope.signal for slope in other.slopes(functionals)) < LEAST_SIGNAL:
        return Agreement(None, limit)
    return _compared(grid, reached, other, functionals, limit)


def _compared(
    grid: Grid, reached: Maximum, other: CorrectedScore, functionals: FloatArray, limit: float
) -> Agreement:
    scores = report_scores(grid, reached.view, reached.information)
    own = scores @ inverse_of(reached.information.profile)
    variance = _variances(grid, own @ functionals.T)
    gap = _variances(grid, (other.influence() - own) @ functionals.T) + _NEGLIGIBLE**2 * variance
    difference = np.abs(functionals @ (other.beta - reached.view.point.beta))
    known = variance > 0  # 0 only where the likelihood's errors are refused
    largest = float(np.max(difference[known] / np.sqrt(gap[known]), initial=0.0))
    blind = float(np.max(np.sqrt(gap[known] / variance[known]), initial=0.0)) * limit
    return Agreement(largest, limit, blind)


def _variances(grid: Grid, influence: FloatArray) -> FloatArray:
    """Of the means over the reports."""
    squares: FloatArray = np.tensordot(grid.second, influence**2, axes=grid.second.ndim) / grid.total**2
    return squares
