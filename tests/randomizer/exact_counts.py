"""Counts of reports against the exact binomial distribution that the claimed matrix gives them.

A test fails where any count is outside the range whose tails have 1e-9 together, shared out over its
counts (Bonferroni): the false-alarm rate of each call is at most 1e-9.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from budget_opt.allocation import AllocatedAttribute

FALSE_ALARM = 1e-9


def assert_binomial(
    counts: npt.NDArray[np.int64], trials: int, probabilities: npt.NDArray[np.float64]
) -> None:
    tail = FALSE_ALARM / (2 * counts.size)
    assert np.all(binom.cdf(counts, trials, probabilities) > tail)
    assert np.all(binom.sf(counts - 1, trials, probabilities) > tail)


def claimed(attribute: AllocatedAttribute) -> npt.NDArray[np.float64]:
    """The matrix of an attribute, row by true category."""
    r = attribute.cardinality
    matrix = np.full((r, r), attribute.other_probability)
    np.fill_diagonal(matrix, attribute.truth_probability)
    return matrix


def assert_independent(
    first: npt.NDArray[np.integer],
    second: npt.NDArray[np.integer],
    rows: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
) -> None:
    """The joint table of two columns of reports is the product of the two rows of their matrices."""
    shape = (rows[0].size, rows[1].size)
    joint = np.bincount(first.astype(np.int64) * shape[1] + second, minlength=shape[0] * shape[1])
    assert_binomial(joint, first.size, np.outer(*rows).ravel())
