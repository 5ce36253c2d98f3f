"""Variances and covariances of weighted means over the released rows, measured from either target.

Letters: N, W1, W2 the sums over the rows of a cell of 1, w and w^2 (w the survey weight); psi a number a cell
of reports, a(x) = E[psi(y) | x]. With psi centred at its mean,

    population  sum W2 psi psi' / (sum W1)^2 x m / (m - 1),   m = (sum W1)^2 / sum W2 (Kish 1965)
    data        sum (W2 psi psi' - corrected(W2) a a') / (sum W1)^2

for given the truth x only the report varies, with E psi psi' - a a', and the corrected table estimates the
table of truths without bias (`channels`). The factor is exact: about the weighted mean the rows' squares have
lost the share sum w^2 / (sum w)^2 = 1 / m in expectation, which without weights is 1 / n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.releases.counting import Cells, Counts

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Covariances:
    """The covariances of k means from both targets, each of shape (k, k).

    `randomized` is false where every channel kept everything, so that the data's are exactly 0.
    """

    population: FloatArray
    data: FloatArray
    randomized: bool = True

    def variance(self, combination: FloatArray, target: Target) -> float:
        """The variance of a linear combination (k,) of the means; see `larger`."""
        both = (float(combination @ one @ combination) for one in (self.population, self.data))
        return larger(*both, randomized=self.randomized)[target]


def larger(population: float, data: float, *, randomized: bool = True) -> dict[Target, float]:
    """Both variances, each stepped to the larger where they contradict each other.

    The data's is a difference and may come out negative in a small table: then it is replaced by the
    population's, which is never smaller in truth; and the population's is never reported below the data's.
    Where nothing was `randomized` the data's is 0 but for rounding.
    """
    if not randomized:
        data = 0.0
    elif data <= 0:
        data = population
    return {"population": max(population, data, 0.0), "data": max(data, 0.0)}


def covariances_of_means(functions: FloatArray, counts: Counts, channels: Sequence[Channel]) -> Covariances:
    """Of the means over `counts` of k functions of the reports, shape (r_1, ..., r_m, k), of mean 0."""
    k = functions.shape[-1]
    given = along_all(Channel.expected, channels, functions).reshape(-1, k)
    truths = along_all(Channel.corrected, channels, counts.second).reshape(-1)
    flat, second = functions.reshape(-1, k), counts.second.reshape(-1)
    squared_total = float(counts.first.sum()) ** 2
    squares = flat.T @ (second[:, None] * flat)
    data = squares - given.T @ (truths[:, None] * given)
    return Covariances(
        squares * sampling_factor(counts.effective) / squared_total,
        data / squared_total,
        is_randomized(channels),
    )


def is_randomized(channels: Sequence[Channel]) -> bool:
    """False where every channel kept everything."""
    return any(channel.retention < 1 for channel in channels)


def sampling_factor(effective: float) -> float:
    """m / (m - 1) of m effective rows (without weights n), lost by a variance about an estimated mean."""
    return effective / (effective - 1)


def require_rows(rows: Cells | Counts, what: str, least: int) -> None:
    """`InputError` where the release has fewer rows than an error needs, or fewer effective ones."""
    if rows.n < least:
        raise InputError(
            f"the release: has {rows.n} rows, {what} needs at least {least} for its error. Give more rows."
        )
    if rows.effective < least * (1 - _ROUNDING):
        raise InputError(
            f"the release: its {rows.n:,} rows count as {rows.effective:.3g} by their survey weights (Kish), "
            f"{what} needs at least {least} for its error. Give more rows, or pass weight=False to count "
            "every row once."
        )


def standard_errors(variances: dict[Target, float]) -> dict[Target, float]:
    """Their roots."""
    return {target: math.sqrt(variance) for target, variance in variances.items()}
