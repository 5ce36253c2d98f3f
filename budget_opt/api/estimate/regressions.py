"""Regressions from a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.estimate.asking import require_release

if TYPE_CHECKING:
    from budget_opt.estimators.regression.result import Regression


def regress(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    formula: str,
    family: Literal["linear", "logistic"] = "linear",
    *,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    scores: Mapping[str, Sequence[float]] | None = None,
    noise_limit: float = 1.0,
    method: Literal["likelihood", "corrected score"] | None = None,
) -> Regression:
    """The regression of a formula such as "income ~ age + C(region) + I(age**2)" on the originals.

    Of a `grouping` it is of the merged categories, as a note says.
    `released` is a table, a path, or `Counts`. A term is an attribute (its scores; without scores, or in
    C(...), indicators of all categories but the first), a function of one (+ - * / **, comparisons, `log`,
    `exp`, `sqrt`, ...), or a product of such terms (`a:b`, `a*b`); `- 1` leaves the intercept out. Public
    columns may be used too, as numbers, or as categories in C(...). The formula is read and never run; it
    needs formulaic (the extra `formulas`).

    `family` "linear" is least squares from the corrected moments, whatever the joint law, with sandwich
    errors. "logistic" is for an outcome of two categories, of which the second counts as 1 (the first with
    scores={"outcome": [1, 0]}). Its `method` is for the `population` "likelihood", maximum likelihood of the
    released table, with errors from its observed information (a sandwich under survey weights), unless it is
    "corrected score": corrected score equations, which are less precise, and estimate the population's own
    fit whether the logistic model is true or not. The likelihood estimates that only if the model is true;
    a note says whether both agree, which a true model fails by chance in one of 100 releases at most. For the
    `data` there is the corrected score alone, whose target is the fit of the original table.

    `target` says what errors are measured from: the `population` (sampling and randomization), or `data`
    (the fit of the original table). `weight` names the public column of survey weights, None the one that the
    allocation states, False none. `scores` gives or replaces the scores of columns, one number a category.

    Raises `InputError` for formulas that cannot be used, collinear columns, too few rows (or as many as
    weighted ones are worth) and a method that the family or the target does not have, `DataError` for a table
    that is no release under this allocation, and `NoiseError` where a coefficient's error is above
    `noise_limit` times the largest size that it can have, where the noise hides what the columns hold, where
    an outcome is separated, and where a likelihood has no maximum that is reached.
    """
    from budget_opt.estimators.estimate import require_target
    from budget_opt.estimators.intervals.noise_limit import require_noise_limit
    from budget_opt.estimators.regression import fit

    require_release(released, allocation)
    require_target(target)
    require_noise_limit(noise_limit)
    ask = fit.Asked(formula, family, target, weight, scores, noise_limit, method)
    return fit.regression(released, allocation, ask)
