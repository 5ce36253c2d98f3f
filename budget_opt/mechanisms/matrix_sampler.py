"""Exact integers of the sampler of one attribute's matrix of any form (DESIGN 2.8).

One uniform b-bit word u a cell; `counts[x][y]` of the 2^b words turn the truth x into the report y, in the
order of the reports: report = the first y with u < counts[x][0] + ... + counts[x][y]. The implemented
matrix is rational, and its loss is that of the counts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, log_at_least
from budget_opt.mechanisms.hamming.matrix import StochasticMatrix, largest_ratio
from budget_opt.mechanisms.hamming.optimum import LARGEST_EPSILON
from budget_opt.mechanisms.sampler import WIDTHS, exp_between, of_least_width

_DIGITS = 60


@dataclass(frozen=True, repr=False)
class MatrixSampler:
    """`counts[x][y]` of the 2^`bits` words turn x into y; every row of counts sums to 2^`bits`."""

    bits: int
    counts: tuple[tuple[int, ...], ...]

    def __repr__(self) -> str:
        return f"<MatrixSampler: {self.cardinality} categories, words of {self.bits} bits>"

    def __post_init__(self) -> None:
        size = len(self.counts)
        if self.bits not in WIDTHS or size < 2 or any(len(row) != size for row in self.counts):
            raise ValueError(
                f"sampler: needs bits in {WIDTHS} and a square table of counts, two rows or more"
            )
        if any(min(row) < 0 or sum(row) != 2**self.bits for row in self.counts):
            raise ValueError(f"sampler: needs counts >= 0 that sum to 2^{self.bits} in every row")
        if any(any(column) and not all(column) for column in zip(*self.counts, strict=True)):
            raise ValueError(
                "sampler: a report is possible for some truths only, so that the loss is infinite"
            )

    @property
    def cardinality(self) -> int:
        """The number of categories."""
        return len(self.counts)

    @cached_property
    def matrix(self) -> StochasticMatrix:
        """The implemented matrix."""
        shares = {count: Fraction(count, 2**self.bits) for row in self.counts for count in set(row)}
        return StochasticMatrix(tuple(tuple(shares[count] for count in row) for row in self.counts))

    @cached_property
    def likelihood_ratio(self) -> Fraction:
        """The largest likelihood ratio of the implemented matrix."""
        return largest_ratio(zip(*self.counts, strict=True))

    @property
    def loss(self) -> float:
        """ln of the likelihood ratio, in nats, rounded up."""
        return log_at_least(self.likelihood_ratio)

    def probability(self, code: int, report: int) -> Fraction:
        """P(report | code), 0 <= code, report < r."""
        return Fraction(self.counts[code][report], 2**self.bits)

    @cached_property
    def thresholds(self) -> tuple[tuple[int, ...], ...]:
        """For every truth the sums of its first 1 .. r counts: words below the first give report 0."""
        return tuple(tuple(accumulate(row)) for row in self.counts)

    def report(self, code: int, word: int) -> int:
        """The report of a cell with this code, 0 <= code < r, under one uniform word, 0 <= word < 2^b."""
        return bisect_right(self.thresholds[code], word)


def sampler_of(matrix: StochasticMatrix, epsilon: float, *, least_bits: int = 32) -> MatrixSampler:
    """Counts of `matrix` with loss at most `epsilon` (nats) in exact arithmetic.

    `epsilon` is at least the matrix's own loss, and at most 700. The width is the least from `least_bits`
    (32, 64, 128) on that loses no more than a millionth of that, else 128 bits. Those implement less loss
    where a probability is below one word in 2^128, hence never more than 128 ln 2 + a hair (88.8 nats), and
    none, one row for every truth, where rows are less than about r^2 words apart. Raises InputError where
    `epsilon` is less than the matrix's loss or above 700.
    """
    if not 0 <= epsilon <= LARGEST_EPSILON:
        raise InputError(f"epsilon: is {epsilon!r}, must be in 0..{LARGEST_EPSILON:g} nats")
    if exact(matrix.loss) > exact(epsilon):
        raise InputError(f"epsilon: is {epsilon!r}, must be at least the loss of the matrix, {matrix.loss!r}")
    if matrix.likelihood_ratio == 1:
        return _constant(matrix, least_bits)
    ratio = max(Fraction(1), exp_between(exact(epsilon), _DIGITS)[0])
    found = of_least_width(lambda bits: _of_width(matrix, ratio, bits), matrix.loss, least_bits)
    return found or _constant(matrix, max(WIDTHS))


def _constant(matrix: StochasticMatrix, bits: int) -> MatrixSampler:
    """The same counts for every truth; each sum of the first is off by less than a word."""
    ends = [2**bits * share // 1 for share in accumulate(matrix.rows[0])]
    row = tuple(end - start for start, end in pairwise([0, *ends]))
    return MatrixSampler(bits, (row,) * matrix.cardinality)


def _of_width(matrix: StochasticMatrix, ratio: Fraction, bits: int) -> MatrixSampler | None:
    """Counts with every column between a least count and `ratio` times it; None where a row has no room."""
    words = 2**bits
    least = [-(-words * min(column) // 1) for column in matrix.columns]
    most = [ratio * count // 1 for count in least]
    rows = [_row(row, code, least, most, words) for code, row in enumerate(matrix.rows)]
    filled = tuple(row for row in rows if row is not None)
    return MatrixSampler(bits, filled) if len(filled) == len(rows) else None


def _row(
    shares: Sequence[Fraction], code: int, least: Sequence[int], most: Sequence[int], words: int
) -> tuple[int, ...] | None:
    """Whole counts near `shares` of the words within the limits of their columns, the truth served last."""
    counts = [
        min(high, max(low, words * share.numerator // share.denominator))
        for share, low, high in zip(shares, least, most, strict=True)
    ]
    missing = words - sum(counts)
    # too many words leave the truth first, which is the private side; what is short goes to it first
    for report in (code, *(other for other in range(len(counts)) if other != code)):
        step = (
            min(missing, most[report] - counts[report])
            if missing > 0
            else max(missing, least[report] - counts[report])
        )
        counts[report] += step
        missing -= step
        if missing == 0:
            break
    return tuple(counts) if missing == 0 else None
