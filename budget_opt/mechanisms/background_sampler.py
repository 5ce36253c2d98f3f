"""Exact integers of the sampler of a background other than the uniform one (DESIGN 2.1, 2.8).

Letters: e epsilon in nats, b the width of a word, q the background in whole weights w of sum W (q = w / W),
m the least weight. The matrix lambda I + (1 - lambda) 1 q^T has likelihood ratio 1 + lambda / ((1 - lambda)
min q), which is exp(e) where

    (1 - lambda) q = w / (m (exp(e) - 1) + W).

One uniform b-bit word u a cell: counts[v] = ceil(2^b w_v / (m (exp(e) - 1) + W)) words lead to category v
whatever the truth, in the order of the categories, and the K = 2^b - sum(counts) words above them leave the
truth. Rounding every count up is toward privacy: K is at most 2^b lambda and the least count at least
2^b (1 - lambda) min q, so the implemented ratio 1 + K / min(counts) is at most exp(e), and the implemented
lambda K / 2^b at most lambda(e). No count is off by a whole word. The uniform background has counts q of
`Sampler`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from budget_opt.mechanisms.exact import exact, float_at_most, log_at_least
from budget_opt.mechanisms.sampler import WIDTHS, ceil_div, exp_between, of_least_width


@dataclass(frozen=True)
class BackgroundSampler:
    """`counts[v]` >= 1 of the 2^`bits` words lead to category v whatever the truth, all others leave it."""

    bits: int
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) < 2 or self.bits not in WIDTHS or min(self.counts) < 1:
            raise ValueError(
                f"sampler: {len(self.counts)} counts, bits {self.bits}; "
                f"needs at least two counts, each at least 1, and bits in {WIDTHS}"
            )
        if self.replaced >= 2**self.bits:
            raise ValueError(
                f"sampler: the counts sum to {self.replaced}, which must be below 2^{self.bits}; "
                "such an attribute must be reported without looking at it"
            )

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return len(self.counts)

    @cached_property
    def replaced(self) -> int:
        """How many words draw the report from the background."""
        return sum(self.counts)

    @property
    def kept(self) -> int:
        """K, how many words leave the truth."""
        words: int = 2**self.bits
        return words - self.replaced

    @property
    def retention(self) -> Fraction:
        """The implemented lambda, K / 2^b."""
        return Fraction(self.kept, 2**self.bits)

    def probability(self, code: int, report: int) -> Fraction:
        """P(report | code), 0 <= code, report < r."""
        return Fraction(self.counts[report] + (self.kept if report == code else 0), 2**self.bits)

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest likelihood ratio of the implemented matrix, at most exp(epsilon)."""
        return 1 + Fraction(self.kept, min(self.counts))

    @property
    def loss(self) -> float:
        """ln of the likelihood ratio, in nats, rounded up."""
        return log_at_least(self.likelihood_ratio)

    @property
    def retention_at_most(self) -> float:
        """The implemented lambda as a double, rounded down."""
        return float_at_most(self.retention)

    def report(self, code: int, word: int) -> int:
        """The report of a cell with this code, 0 <= code < r, under one uniform word, 0 <= word < 2^b."""
        drawn = bisect_right(self.thresholds, word)
        return code if drawn == self.cardinality else drawn

    @cached_property
    def thresholds(self) -> tuple[int, ...]:
        """The sums of the first 1 .. r counts: words below the first lead to category 0, and so on."""
        return tuple(accumulate(self.counts))

    def marginal_of(self, axis: int, shape: Sequence[int]) -> BackgroundSampler:
        """The law of one column of a joint code, row-major over `shape` with product r; lambda is the same.

        It is the law of that column alone: columns drawn with it one by one would not be a draw of the code.
        """
        after = math.prod(shape[axis + 1 :])
        sums = [0] * shape[axis]
        for code, count in enumerate(self.counts):
            sums[code // after % shape[axis]] += count
        return BackgroundSampler(self.bits, tuple(sums))


def background_sampler_for(
    epsilon: float, weights: Sequence[int], *, least_bits: int = 32
) -> BackgroundSampler | None:
    """The sampler of the least width from `least_bits` on that serves `epsilon` (nats, >= 0), or None.

    `weights` are positive integers, the background times a common factor. The rule of the width is that of
    `sampler.sampler_for`: None means that the report must not depend on the truth.
    """
    _check(weights)
    return of_least_width(
        lambda bits: background_sampler_of_width(epsilon, weights, bits), epsilon, least_bits
    )


def background_sampler_of_width(
    epsilon: float, weights: Sequence[int], bits: int
) -> BackgroundSampler | None:
    """The sampler of `epsilon` (nats, > 0) with b = `bits`; None where the counts would reach 2^b."""
    _check(weights)
    counts = _smallest_counts(exact(epsilon), weights, bits)
    return BackgroundSampler(bits, counts) if sum(counts) < 2**bits else None


def blind_counts(weights: Sequence[int], bits: int) -> tuple[int, ...]:
    """Counts >= 1 with sum 2^`bits` of reports drawn from the background alone (loss 0, retention 0).

    Each is off by a word at most, but the largest, which takes what that leaves: off by less than r words.
    """
    _check(weights)
    whole, largest = sum(weights), weights.index(max(weights))
    counts = [max(1, 2**bits * weight // whole) for weight in weights]
    counts[largest] += 2**bits - sum(counts)
    return tuple(counts)


def _check(weights: Sequence[int]) -> None:
    if len(weights) < 2 or min(weights) < 1:
        raise ValueError(
            f"weights: are {len(weights)}, the least {min(weights, default=0)}; "
            "needs at least two, each an integer >= 1"
        )


def _smallest_counts(epsilon: Fraction, weights: Sequence[int], bits: int) -> tuple[int, ...]:
    """ceil(2^b w / (m (exp(epsilon) - 1) + W)) of every weight, exactly.

    exp of a rational other than 0 is irrational, so no quotient is an integer and some precision separates
    each from its neighbours.
    """
    least, whole = min(weights), sum(weights)
    different = set(weights)
    digits = 50
    while True:
        below, above = (least * (bound - 1) + whole for bound in exp_between(epsilon, digits))
        counts = {weight: ceil_div(2**bits * weight, above) for weight in different}
        if all(ceil_div(2**bits * weight, below) == count for weight, count in counts.items()):
            return tuple(counts[weight] for weight in weights)
        digits *= 2
