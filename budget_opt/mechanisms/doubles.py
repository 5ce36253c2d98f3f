"""One attribute's implemented matrix in doubles, for software that computes with nothing else.

A double stands here for the binary number that it is, which is what other software makes of it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import (
    AnySampler,
    RetainingSampler,
    other_probabilities,
    truth_probabilities,
)

UNITS = 2**53
"""Whole multiples of 1 / UNITS up to 1 are doubles, and so are their sums and differences up to 1."""


def truth_at_most(sampler: Sampler) -> float:
    """The largest double <= P(report = truth); where the nearest one is 1, doubles are too coarse for it."""
    exact = sampler.truth_probability
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)


def informs(truth: float, cardinality: int) -> bool:
    """True where `truth` = P(report = truth) is above 1/r, exactly: else the report says nothing."""
    return Fraction(truth) * cardinality > 1


def other_in_units(sampler: Sampler) -> int | None:
    """P(report = one given other category) in 1 / UNITS, rounded up; None where it would reach 1/r.

    With it every entry of the matrix is such a multiple, the diagonal being what is left of UNITS, so each
    row and column sums to exactly 1 in whatever order doubles are added. Rounding up is toward privacy.
    """
    exact = sampler.other_probability
    count = -(-exact.numerator * UNITS // exact.denominator)
    return count if sampler.cardinality * count < UNITS else None


def counts_in_units(sampler: RetainingSampler) -> tuple[int, ...] | None:
    """P(report = v | the truth is another category) by v in 1 / UNITS, rounded up; None if they reach 1.

    The diagonal is what is left of UNITS in each row, as in `other_in_units`.
    """
    counts = tuple(-(-exact.numerator * UNITS // exact.denominator) for exact in other_probabilities(sampler))
    return counts if sum(counts) < UNITS else None


def nearest_matrix(sampler: AnySampler) -> npt.NDArray[np.float64]:
    """P, rows the truth and columns the report, shape (r, r): the doubles nearest to its fractions."""
    if isinstance(sampler, MatrixSampler):
        return np.array(sampler.matrix.as_array(), dtype=np.float64)
    matrix = np.tile(np.array(other_probabilities(sampler), dtype=np.float64), (sampler.cardinality, 1))
    np.fill_diagonal(matrix, np.array(truth_probabilities(sampler), dtype=np.float64))
    return matrix
