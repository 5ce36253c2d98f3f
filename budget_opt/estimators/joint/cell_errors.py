"""The errors of the cells of the unbiased table, and intervals that cover on skewed and sparse tables too.

Letters: pi the true share of a cell, p its unbiased estimate, n the rows (with survey weights Kish's
effective number), V / n the variance of p from the target, M3 and K4 the third central moment and the fourth
cumulant of one row's h (population), or their means given the truth (data).

    population  V = E h^2 - pi^2                         data  V = E h^2 - pi

both estimated without bias. Where h is skewed, p and its estimated variance go together: where p came out
too low so did V, and p +- z sqrt(V / n) is too short just there (on a rare cell at a high retention it
covers 0.05 to 0.9 instead of 0.95). The slope of V on p is M3 / V, so the interval is the set of all t with

    (p - t)^2  <=  z^2 / n  (V + M3 / V (t - p) - (t - p)^2 [population only])

which without randomization is Wilson's interval (1927) exactly: there M3 / V = 1 - 2 p. M3 / V and K4
come from the nearest table of shares, for they need not be unbiased. K4 tells where a normal law is too
smooth: of a count of mu rare events V^2 / K4 = mu, so `events` = n V^2 / K4 is how many of them stand
behind a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.estimate import Target, normal_quantile
from budget_opt.estimators.intervals.errors_of_means import sampling_factor
from budget_opt.estimators.joint.agreement import largest_scores, power_factors
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.unbiased import require_counted
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.unchanging import hold_arrays

FEW_EVENTS = 40
"""Below, the estimate takes so few values that no interval covers exactly: it is widened, and flagged."""


@dataclass(frozen=True)
class CellErrors:
    """The errors of every cell of an unbiased table, each of the table's shape, from one target.

    `shares` p, `variances` V of one row, `lean` M3 / V, `events` (inf where the law has no more weight in its
    tails than a normal one), `step` half of what one report more of the cell adds to p. `effective` is n.
    """

    shares: FloatArray
    variances: FloatArray
    lean: FloatArray
    events: FloatArray
    step: FloatArray
    effective: float
    target: Target

    def __post_init__(self) -> None:
        hold_arrays(self)

    @property
    def standard_errors(self) -> FloatArray:
        """Of every cell."""
        errors: FloatArray = np.sqrt(self.variances / self.effective)
        return errors

    @property
    def few(self) -> npt.NDArray[np.bool_]:
        """Cells with fewer than `FEW_EVENTS` chance events: there the interval is rough, and wider."""
        return self.events < FEW_EVENTS

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The intervals of every cell that cover the target in a share `level`, in (0, 1), of releases.

        At 0.95 it covers 94 to 96 % of releases where there are `FEW_EVENTS` or more. With fewer it is
        widened by `step` on both sides and is rough (measured: 90 to 100 % from 6 events on; below, and
        for the data at a high retention, down to 83 %). It is cut at 0 and 1; where it lies beyond as a
        whole, as it must in one of forty releases where the share is 0, it stays there: it covers nothing.
        """
        k = normal_quantile(level) ** 2 / self.effective
        own = k if self.target == "population" else 0.0
        root = np.sqrt((k * self.lean) ** 2 + 4 * (1 + own) * k * self.variances)
        wider = np.where(self.few, self.step, 0.0)
        middle = self.shares + k * self.lean / (2 * (1 + own))
        half = root / (2 * (1 + own)) + wider
        low, high = middle - half, middle + half
        apart = (high < 0) | (low > 1)
        return np.where(apart, low, np.maximum(low, 0.0)), np.where(apart, high, np.minimum(high, 1.0))


@dataclass(frozen=True)
class Law:
    """The variance, third central moment and fourth cumulant of h, or their means, for every cell.

    `limit` is M3 / V where V is 0, which it is without randomization only.
    """

    variance: FloatArray
    third: FloatArray
    fourth: FloatArray
    limit: FloatArray


def cell_errors(counts: Counts, channels: Sequence[Channel], target: Target) -> CellErrors:
    """The unbiased table with its errors; raises `InputError` for fewer than two rows, or other channels.

    A variance is never reported below the least that it can be for any table: the intervals need it.
    """
    require_counted(counts, channels, 2)
    shares = along_all(Channel.corrected, channels, counts.shares)
    weighted = counts.second / counts.second.sum()
    squares = along_all(Channel.squared, channels, weighted)
    of_weights = along_all(Channel.corrected, channels, weighted)
    if target == "population":
        variances = (squares - 2 * shares * of_weights + shares**2) * sampling_factor(counts.effective)
    else:
        variances = squares - of_weights
    law = (sampled_law if target == "population" else given_law)(nearest_shares(shares), channels)
    lean = np.divide(law.third, law.variance, out=law.limit, where=law.variance > 0)
    effective = counts.effective
    many = np.full_like(shares, np.inf)
    events = np.divide(effective * law.variance**2, law.fourth, out=many, where=law.fourth > 0)
    step = largest_scores(channels) / (2 * effective)
    variances = np.maximum(variances, least_variances(channels))
    return CellErrors(shares, variances, lean, events, step, effective, target)


def least_variances(channels: Sequence[Channel]) -> FloatArray:
    """The least variance that h can have given any truth, or less."""
    second = power_factors(channels, 2)
    return np.maximum(np.minimum(second.least, second.whole - 1), 0.0)


def sampled_law(p: FloatArray, channels: Sequence[Channel]) -> Law:
    """Of rows drawn from a population with the shares `p`."""
    second, third, fourth = (power_factors(channels, power).mean(p) for power in (2, 3, 4))
    variance = second - p**2
    central = fourth - 4 * p * third + 6 * p**2 * second - 3 * p**4
    return Law(variance, third - 3 * p * second + 2 * p**3, central - 3 * variance**2, 1 - 2 * p)


def given_law(p: FloatArray, channels: Sequence[Channel]) -> Law:
    """Given truths of the shares `p`: the mean of h is 1 where the truth is the cell itself, and else 0."""
    second, third, fourth = (power_factors(channels, power) for power in (2, 3, 4))
    own_second, own_third = p * second.whole, p * third.whole
    tail = fourth.mean(p) - 4 * own_third - 3 * second.squared.mean(p) + 12 * own_second - 6 * p
    return Law(second.mean(p) - p, third.mean(p) - 3 * own_second + 2 * p, tail, np.zeros_like(p))
