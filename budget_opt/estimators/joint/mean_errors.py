"""The expected AVD of the unbiased table: half the sum of the mean absolute errors of its cells.

A normal law of standard deviation s has the mean absolute error s sqrt(2 / pi); a count of few events is
nearer to its mean than that: a Poisson count of mean mu has, with m = floor(mu) (Crow 1958),

    E|X - mu| = 2 e^-mu mu^(m+1) / m!,        2 mu e^-mu for mu < 1,

and the difference of two alike of mu / 2 each mu e^-mu (I0(mu) + I1(mu)). The error of a cell is matched
to these by its second, third and fourth cumulant V, M3, K4 of one row: events of size a = sqrt(K4 / V), of
which nu = n V / a^2 are expected, in both directions where M3 / (V a) is 0 and in one where it is +-1; in
between in proportion. With many events all of it is s sqrt(2 / pi).

The cumulants are those of a plausible truth (`plausible`), so that cells which no row has shown have the
error that they must have. Given the data the truths are whole rows: tables of n rows are drawn from the
plausible one, and the mean is taken.

Measured, mean expected / mean true AVD, both targets: uniform 10 x 10 x 10, n = 100, lambda 0.99 (0.1 rows
a cell), 0.99 and 1.06; n = 1000, lambda 0.95 and 0.5, 0.99 to 1.04; three quarters of these cells empty,
n = 100, 1.04 and 1.02; 50 categories, n = 30, lambda 0.9, 1.01 and 1.00; 3 x 4, n = 50, lambda 0.9, 0.95
to 0.97; 10 x 10, n = 100, lambda 0.99, 1.03 and 0.81.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln, ive

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.errors_of_means import is_randomized
from budget_opt.estimators.joint.cell_errors import Law, given_law, sampled_law
from budget_opt.estimators.joint.drawing import drawn_originals
from budget_opt.estimators.joint.plausible import plausible_shares
from budget_opt.estimators.releases.counting import Counts

MANY_EVENTS = 1e4
"""From here on the law is normal to 1 in 10,000."""


def expected_avds(
    counts: Counts, channels: Sequence[Channel], target: Target, draws: int, rng: np.random.Generator
) -> FloatArray:
    """The expected AVD of the unbiased table: one number (population), or one for each of `draws` (data)."""
    truth, n = plausible_shares(counts, channels), counts.effective
    if target == "population":
        return np.array([_half_sum(sampled_law(truth, channels), n)])
    if not is_randomized(channels):
        return np.zeros(draws)
    rows = max(2, round(n))
    tables = (drawn_originals(truth, rows, rng) / rows for _ in range(draws))
    return np.array([_half_sum(given_law(table, channels), n) for table in tables])


def _half_sum(law: Law, n: float) -> float:
    return 0.5 * float(mean_absolute_errors(law, n).sum())


def mean_absolute_errors(law: Law, n: float) -> FloatArray:
    """E|error| of every cell, of the mean of n rows of this law."""
    variance = np.maximum(law.variance, 0.0)
    has_tails = (variance > 0) & (law.fourth > 0)
    size = np.sqrt(np.divide(law.fourth, variance, out=np.ones_like(variance), where=has_tails))
    events = np.minimum(np.where(has_tails, n * variance / size**2, MANY_EVENTS), MANY_EVENTS)
    lean = np.divide(law.third, variance * size, out=np.zeros_like(variance), where=has_tails)
    one_way = np.minimum(np.abs(lean), 1.0)
    per_deviation = one_way * poisson_deviation(events) + (1 - one_way) * difference_deviation(events)
    errors: FloatArray = np.sqrt(variance / n) * per_deviation
    return errors


def poisson_deviation(mean: FloatArray) -> FloatArray:
    """E|X - mean| / sqrt(mean) of a Poisson count, mean > 0."""
    whole = np.floor(mean)
    logarithm = -mean + (whole + 0.5) * np.log(mean) - gammaln(whole + 1)
    deviation: FloatArray = 2 * np.exp(logarithm)
    return deviation


def difference_deviation(mean: FloatArray) -> FloatArray:
    """E|X - Y| / sqrt(mean) of two independent Poisson counts of mean / 2 each."""
    deviation: FloatArray = np.sqrt(mean) * (ive(0, mean) + ive(1, mean))
    return deviation
