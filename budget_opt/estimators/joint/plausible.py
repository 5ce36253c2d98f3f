"""A table of truths from which a release like this one may well have come.

The unbiased table, cut to a distribution, is too concentrated to draw releases from where rows are few for
its cells: it says that what no row has shown does not exist. Letters: J the unbiased table, N the nearest
distribution to it, B the product of such tables of one attribute each (of one attribute: equal shares),
n the rows. The table is B + t (N - B), and t in 0 .. 1 is taken from what the release itself shows:

- by default t^2 = 1 - noise / |J - B|^2, so that it is as far from B as the truth is estimated to be (the
  noise, of sampling and randomization, is known without bias; see `blend`);
- where reports seen once tell more, t is that for which as many are expected as there are. Their number
  estimates the share of what was not seen (Good 1953), and in a table of many rare cells half the sum of
  the mean absolute deviations of all counts, sum 2 mu e^-mu, is their expected number exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray, along_all, uniform
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts

_STEPS = np.linspace(0.0, 1.0, 21)
TELLING = 2.0
"""Standard deviations by which both ends of t must differ in the reports seen once that they expect."""


def plausible_shares(counts: Counts, channels: Sequence[Channel]) -> FloatArray:
    """The table of shares (>= 0, sum 1), an axis a channel; needs two rows at least."""
    table = unbiased(counts, channels)
    nearest, base = nearest_shares(table), _base(counts, channels)
    by_single = _by_single_reports(counts, channels, base, nearest)
    t = _by_distance(counts, channels, table, base) if by_single is None else by_single
    shares: FloatArray = base + t * (nearest - base)
    return shares


def _base(counts: Counts, channels: Sequence[Channel]) -> FloatArray:
    if len(channels) == 1:
        return np.asarray(uniform(channels[0].cardinality), dtype=np.float64)
    parts = [
        plausible_shares(counts.marginal(name), [channel])
        for name, channel in zip(counts.attributes, channels, strict=True)
    ]
    product: FloatArray = reduce(np.multiply.outer, parts)
    return product


def _by_distance(counts: Counts, channels: Sequence[Channel], table: FloatArray, base: FloatArray) -> float:
    apart = float(np.vdot(table - base, table - base))
    if apart == 0 or counts.effective <= 1:
        return 1.0
    squares = float(along_all(Channel.squared, channels, counts.shares).sum())
    noise = (squares - float(np.vdot(table, table))) / (counts.effective - 1)
    return math.sqrt(min(max(1 - noise / apart, 0.0), 1.0))


def _by_single_reports(
    counts: Counts, channels: Sequence[Channel], base: FloatArray, nearest: FloatArray
) -> float | None:
    """t by the number of cells with one report; None where that does not depend on it visibly."""
    found = int(np.count_nonzero(counts.rows == 1))
    ends = [counts.n * along_all(Channel.spread, channels, table) for table in (base, nearest)]
    least, most = (_expected_single(mean) for mean in ends)
    if abs(least - most) <= TELLING * math.sqrt(found + 1):
        return None
    apart = [abs(_expected_single(ends[0] + t * (ends[1] - ends[0])) - found) for t in _STEPS]
    return float(_STEPS[int(np.argmin(apart))])


def _expected_single(mean: FloatArray) -> float:
    return float(np.sum(mean * np.exp(-mean)))
