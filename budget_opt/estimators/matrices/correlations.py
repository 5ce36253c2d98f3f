"""The corrected correlation matrix: corrected covariances over the roots of corrected variances (DESIGN 2.2).

Both are estimated and both count in the errors. A released correlation keeps R sd(Z_a) sd(Z_b) / (sd(W_a)
sd(W_b)) of the original one, which is 1 over the root of the variance inflation of the pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target, require_target
from budget_opt.estimators.intervals.chance_events import degrees_of
from budget_opt.estimators.intervals.ratio import ratio_variance
from budget_opt.estimators.matrices.covariances import SecondMoments, few_pairs, mse_of_scaled, second_moments
from budget_opt.estimators.matrices.pair_sums import PairErrors
from budget_opt.estimators.matrices.result import CorrelationMatrix
from budget_opt.estimators.matrices.scored import Scored
from budget_opt.estimators.matrices.withholding import withheld
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.releases.counting import Cells

CLEARLY = 3.0
"""Standard errors above 0 that a corrected variance must be: nearer to 0 no interval of the ratio covers."""


def correlation_matrix(
    cells: Cells, designs: Sequence[Design], target: Target, noise_limit: float = math.inf
) -> CorrelationMatrix:
    """All correlations of the originals, from cells in the order of `designs`.

    Attributes whose corrected variance is not `CLEARLY` above 0 have none: NaN, with a note.
    """
    return correlations_from(second_moments(cells, designs), target, noise_limit)


def correlations_from(
    found: SecondMoments, target: Target, noise_limit: float = math.inf
) -> CorrelationMatrix:
    """The same from sums that are there."""
    require_target(target)
    clear = _clear(found, target)
    values, errors = _ratios(found, clear, target)
    variances = ratio_variance(values, errors.product, errors.crossed, errors.scale)
    np.fill_diagonal(variances, 0.0)
    hidden, noisy = withheld(
        np.sqrt(variances), np.ones_like(values), found.names, noise_limit, "correlation", diagonal=False
    )
    kept = 1 / np.sqrt(np.outer(found.inflations, found.inflations))
    raw_mse = mse_of_scaled(values, variances, kept)
    raw_root = np.sqrt(_products(np.array([_raw(one) for one in found.attributes])))
    raw = found.raw / raw_root
    root = _root(found, clear)
    for pair in found.members:
        a, b = pair.places
        mse = pair.mse_of_raw_correlation(float(root[a, b]), float(raw_root[a, b]), target)
        raw_mse[a, b] = raw_mse[b, a] = mse
    for matrix, ones in ((values, np.where(clear, 1.0, math.nan)), (raw, np.ones(len(clear)))):
        np.fill_diagonal(matrix, ones)
    np.fill_diagonal(raw_mse, math.nan)
    values = np.where(hidden, math.nan, values)
    events = found.events
    np.fill_diagonal(events, math.inf)
    evidence = found.behind(events, target)
    few = few_pairs(evidence, found.names, ~np.isfinite(values), diagonal=False)
    return CorrelationMatrix(
        attributes=found.names,
        values=values,
        standard_errors=np.where(np.isfinite(values), np.sqrt(variances), math.nan),
        raw=raw,
        effective_n=found.effective_n,
        mse_corrected=variances,
        mse_raw=raw_mse,
        n=found.n,
        target=target,
        errors=errors,
        behind=evidence,
        degrees=degrees_of(events, found.effective),
        notes=(*_unclear(found, clear), *noisy, *few, *_flags(values, found.names)),
    )


def correlations(cells: Cells, designs: Sequence[Design]) -> FloatArray:
    """The values alone, NaN where a corrected variance is not positive: what a bootstrap repeats."""
    found = second_moments(cells, designs)
    positive = np.array([one.spread.variance > 0 for one in found.attributes])
    values, _ = _ratios(found, positive, "population")
    np.fill_diagonal(values, np.where(positive, 1.0, math.nan))
    return values


def _clear(found: SecondMoments, target: Target) -> npt.NDArray[np.bool_]:
    """Where a corrected variance is clearly above 0."""
    return np.array(
        [
            one.spread.variance / one.unit**2 > CLEARLY * math.sqrt(one.variance_error(target))
            for one in found.attributes
        ]
    )


def _ratios(
    found: SecondMoments, defined: npt.NDArray[np.bool_], target: Target
) -> tuple[FloatArray, PairErrors]:
    """Correlations and their errors in units of the product of the standard deviations; NaN elsewhere."""
    scale = _root(found, defined)
    errors = found.sums.errors[target]
    return found.sums.covariance / scale, PairErrors(
        errors.product / scale**2,
        errors.crossed / scale,
        np.where(np.isfinite(scale), errors.scale, math.nan),
    )


def _root(found: SecondMoments, defined: npt.NDArray[np.bool_]) -> FloatArray:
    """The product of two standard deviations; NaN where one is not defined."""
    variances = np.array([one.spread.variance / one.unit**2 for one in found.attributes])
    root: FloatArray = np.sqrt(_products(np.where(defined, variances, math.nan)))
    return root


def _raw(one: Scored) -> float:
    """The released variance of f / u; NaN of a column that came out constant, which has no correlations."""
    return one.spread.raw_variance / one.unit**2 or math.nan


def _products(numbers: FloatArray) -> FloatArray:
    return np.outer(numbers, numbers)


def _unclear(found: SecondMoments, clear: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(
        f"no correlations of {name}: its corrected variance is not {CLEARLY:g} standard errors above 0"
        for name, is_clear in zip(found.names, clear, strict=True)
        if not is_clear
    )


def _flags(values: FloatArray, names: Sequence[str]) -> tuple[str, ...]:
    beyond = [
        f"{names[a]} x {names[b]}" for a, b in combinations(range(len(names)), 2) if abs(values[a, b]) > 1
    ]
    notes = [f"outside [-1, 1]: {', '.join(beyond)}"] if beyond else []
    if np.all(np.isfinite(values)):
        least = float(np.linalg.eigvalsh(values)[0])
        if least < -1e-9:
            notes.append(
                f"not positive semidefinite (least eigenvalue {least:.2g}): repaired() is the nearest matrix "
                "that is, biased and without errors"
            )
    return tuple(notes)
