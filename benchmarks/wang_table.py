"""Proportions, entropy and chi-square at the size of the YesiWell table: by the delta method and simulated.

The YesiWell data are not public. `TABLE` has its shape, 6 levels of LDL by 3 of total cholesterol, and shares
that we state: the levels of LDL as adults have them, total cholesterol rising with LDL. n = 248, each
attribute randomized at epsilon of its own, so that a record's loss is twice epsilon where both are used.

The delta method is that of eq. 24 with the gradients at the true shares. The simulation draws the reports of
n records, corrects their shares, sets negative ones to 0 and divides by the sum, as one must for an entropy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.wang_designs import FloatArray, dispersion, laplace, response

N = 248
TABLE: FloatArray = (
    np.array(
        [
            [0.08, 0.000, 0.000],
            [0.25, 0.020, 0.000],
            [0.20, 0.130, 0.010],
            [0.02, 0.140, 0.040],
            [0.00, 0.025, 0.055],
            [0.00, 0.002, 0.028],
        ]
    )
    + 0.0005
) / 1.009
"""Stated shares, LDL by total cholesterol; every cell is possible."""
MECHANISMS: dict[str, Callable[[float, int], FloatArray]] = {"RR": response, "LM": laplace}
SEED = 2016


def entropy(shares: FloatArray) -> FloatArray:
    """-sum p log2 p over the last axis, in bits; 0 for p = 0 (eq. 25)."""
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    bits: FloatArray = -(shares * logs).sum(axis=-1)
    return bits


def entropy_gradient(shares: FloatArray) -> FloatArray:
    """d H / d p, up to a constant that no dispersion matrix sees (Result 5)."""
    gradient: FloatArray = -np.log2(shares)
    return gradient


def chi_square(table: FloatArray, n: int = N) -> FloatArray:
    """n (sum p_ij^2 / (p_i+ p_+j) - 1) over the last two axes (eq. 26); an empty row or column adds 0."""
    expected = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True)
    parts = np.divide(table**2, expected, out=np.zeros_like(table), where=expected > 0)
    value: FloatArray = n * (parts.sum(axis=(-2, -1)) - 1.0)
    return value


def chi_square_gradient(table: FloatArray, n: int = N) -> FloatArray:
    """d chi^2 / d p_ij, shape (r, c)."""
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    ratio = table / (rows * columns)
    by_row = (table * ratio / rows).sum(axis=1, keepdims=True)
    by_column = (table * ratio / columns).sum(axis=0, keepdims=True)
    gradient: FloatArray = n * (2.0 * ratio - by_row - by_column)
    return gradient


@dataclass(frozen=True)
class Row:
    """One statistic at one epsilon under one mechanism; `mean` and `simulated` are of the simulation."""

    statistic: str
    epsilon: float
    mechanism: str
    truth: float
    delta: float
    mean: float
    simulated: float

    @property
    def distance(self) -> float:
        """The root of the mean squared distance of the estimates from the truth (unbiased: the deviation)."""
        return math.hypot(self.mean - self.truth, self.simulated)


def delta_deviations(mechanism: str, epsilon: float, table: FloatArray = TABLE) -> dict[str, float]:
    """Standard deviations by statistic; of `share`, the root of the mean variance of the LDL shares."""
    design = MECHANISMS[mechanism]
    rows, columns = table.shape
    ldl = table.sum(axis=1)
    of_shares = dispersion(design(epsilon, rows), ldl)
    both: FloatArray = np.kron(design(epsilon, rows), design(epsilon, columns)).astype(np.float64)
    of_cells = dispersion(both, table.ravel())
    slope, slopes = entropy_gradient(ldl), chi_square_gradient(table).ravel()
    scores = np.arange(rows)
    return {
        "share": float(np.sqrt(np.trace(of_shares) / rows / N)),
        "mean level": float(np.sqrt(scores @ of_shares @ scores / N)),
        "entropy": float(np.sqrt(slope @ of_shares @ slope / N)),
        "chi-square": float(np.sqrt(slopes @ of_cells @ slopes / N)),
    }


def simulated(mechanism: str, epsilon: float, repetitions: int) -> dict[str, FloatArray]:
    """Every repetition's estimates: the corrected LDL shares as they are, the others from repaired shares."""
    design = MECHANISMS[mechanism]
    left, right = (design(epsilon, t) for t in TABLE.shape)
    random = np.random.default_rng([SEED, round(1000 * epsilon), len(mechanism)])
    law = left.T @ TABLE @ right
    counts = random.multinomial(N, law.ravel() / law.sum(), size=repetitions)
    reports = counts.reshape(repetitions, *TABLE.shape) / N
    corrected = np.linalg.inv(left).T @ reports @ np.linalg.inv(right)
    shares = corrected.sum(axis=2)
    return {
        "share": shares,
        "mean level": shares @ np.arange(TABLE.shape[0]),
        "entropy": entropy(repaired(shares, 1)),
        "chi-square": chi_square(repaired(corrected, 2)),
    }


def repaired(shares: FloatArray, axes: int) -> FloatArray:
    """Negative shares set to 0, and the rest divided by their sum, over the last `axes` axes."""
    kept = np.maximum(shares, 0.0)
    total = kept.sum(axis=tuple(range(-axes, 0)), keepdims=True)
    divided: FloatArray = kept / total
    return divided


def truths() -> dict[str, float]:
    """The statistics of the stated shares."""
    ldl = TABLE.sum(axis=1)
    return {
        "share": 1.0 / ldl.size,
        "mean level": float(ldl @ np.arange(ldl.size)),
        "entropy": float(entropy(ldl)),
        "chi-square": float(chi_square(TABLE)),
    }


def rows(epsilons: Sequence[float], repetitions: int) -> list[Row]:
    """Every statistic, epsilon and mechanism."""
    made, known = [], truths()
    for epsilon in epsilons:
        for mechanism in MECHANISMS:
            drawn, delta = simulated(mechanism, epsilon, repetitions), delta_deviations(mechanism, epsilon)
            for statistic, estimates in drawn.items():
                deviation = float(np.sqrt(np.mean(estimates.var(axis=0))))
                made.append(
                    Row(
                        statistic,
                        epsilon,
                        mechanism,
                        known[statistic],
                        delta[statistic],
                        float(np.mean(estimates)),
                        deviation,
                    )
                )
    return made
