"""Least epsilon and least Hamming distortion of a source, each with its proof; the verbs of `bo.hamming`.

Numbers of an answer are exact in fractions and rounded to the safe side as doubles; its bound is that of a
distribution of the source's hull, checked by a closed form, never by a solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, float_at_least, float_at_most, log_at_most
from budget_opt.mechanisms.hamming.classes import for_distortion, for_ratio, points_of
from budget_opt.mechanisms.hamming.matrix import StochasticMatrix, matrix_of
from budget_opt.mechanisms.hamming.source import Distribution, Number, Source, fraction_of
from budget_opt.mechanisms.hamming.theorem import distortion_is_at_least, ratio_is_at_least, thresholds_of
from budget_opt.mechanisms.sampler import exp_between

_DIGITS = 40
LARGEST_EPSILON = 700.0
"""Nats: exp of more is beyond doubles, and no share of changed cells that anybody can see is left."""


@dataclass(frozen=True)
class Optimum:
    """A matrix for a source, and the proof of how good it is.

    `minimized` is what is least, "epsilon" (nats) or "distortion", and `bound` (rounded down) what no matrix
    that keeps the other is below: it is so under the distribution `hardest` of the source's hull alone.
    """

    source: Source
    matrix: StochasticMatrix
    minimized: Literal["epsilon", "distortion"]
    bound: float
    hardest: Distribution = field(repr=False)
    kind: Literal["proved"] = "proved"

    @property
    def epsilon(self) -> float:
        """The loss of the matrix in nats, rounded up; it does not depend on the source."""
        return self.matrix.loss

    @property
    def distortion(self) -> float:
        """The expected share of changed cells under the worst distribution of the source, rounded up."""
        return float_at_least(self.matrix.distortion(self.source))

    @property
    def gap(self) -> float:
        """What was minimized, less its bound: no matrix is better by more."""
        return (self.epsilon if self.minimized == "epsilon" else self.distortion) - self.bound

    @property
    def reported(self) -> tuple[int, ...]:
        """Codes that may be reported; the others are censored."""
        return self.matrix.reported


def least_epsilon(source: Source, distortion: Number) -> Optimum:
    """The least epsilon whose best matrix changes at most the share `distortion` of the cells.

    `distortion` in 0..1, above 0 unless one category alone is certain; it means its decimal. Exact for
    classes I and II; for class III `gap` says how near the best the matrix is. Raises
    InputError where no finite epsilon does, NotSolvedError where HiGHS does not solve a class III.
    """
    asked = fraction_of(distortion)
    if not 0 <= asked <= 1:
        raise InputError(f"distortion: is {distortion!r}, must be a share in 0..1")
    best = for_distortion(source, asked)
    if best is None:
        raise InputError(
            f"distortion: is {distortion!r}, which no finite epsilon reaches for this source. Allow a larger "
            "share of changed cells"
        )
    ratio = ratio_is_at_least(best.hardest, asked)
    bound = math.inf if ratio is None else log_at_most(ratio)
    return Optimum(source, matrix_of(best.weights, best.ratio), "epsilon", bound, best.hardest)


def least_distortion(source: Source, epsilon: float) -> Optimum:
    """The matrix with loss at most `epsilon` that changes the fewest cells in the worst case.

    `epsilon` in nats, 0..700, means its decimal; it is met in exact arithmetic, below 1e-39 by a matrix
    that does not look at the truth. Raises InputError, and
    NotSolvedError where HiGHS does not solve a source of class III.
    """
    if not 0 <= epsilon <= LARGEST_EPSILON:
        raise InputError(f"epsilon: is {epsilon!r}, must be in 0..{LARGEST_EPSILON:g} nats")
    below, above = (Fraction(1),) * 2 if epsilon == 0 else exp_between(exact(epsilon), _DIGITS)
    below = max(Fraction(1), below)  # of an epsilon that is less than a last digit
    best = for_ratio(source, below)
    bound = float_at_most(distortion_is_at_least(best.hardest, above))
    return Optimum(source, matrix_of(best.weights, below), "distortion", bound, best.hardest)


def thresholds(source: Source) -> tuple[float, ...]:
    """D^(1) >= ... >= D^(r-1): from distortion D^(k) on the best matrix reports k categories only.

    Rounded up. Below D^(r-1) all are reported and knowing the source is worth nothing; from D^(1) on epsilon
    is 0. Of sources of class I and II with a known order; raises InputError for others.
    """
    if source.order is None:
        raise InputError(
            "source: its distributions do not agree on an order of the categories, so there is no nested "
            "output alphabet. Ask `least_epsilon(source, distortion).reported` at single distortions"
        )
    return tuple(float_at_least(bound) for bound in thresholds_of(points_of(source, source.order)))
