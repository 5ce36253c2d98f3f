"""One attribute's matrix in exact fractions, with its loss, its distortion and its effect on means.

Rows are the truth, columns the report. Nothing here trusts a solver: a matrix is built from weights by a
closed form that keeps the likelihood ratio, and its loss and distortion are read from its own entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import log_at_least
from budget_opt.mechanisms.hamming.source import Number, Source, fraction_of

Row = tuple[Fraction, ...]
_WORST_CONDITION = 1e12


@dataclass(frozen=True, repr=False)
class StochasticMatrix:
    """`rows[x][y]` = P(report = y | truth = x), exact; a column is all zero or all positive.

    Raises InputError where a row does not sum exactly to one, or where a column has zero and positive
    entries: such a matrix has no finite loss.
    """

    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return f"<StochasticMatrix: {self.cardinality} categories, {len(self.reported)} of them reported>"

    def __post_init__(self) -> None:
        size = len(self.rows)
        if size < 2 or any(len(row) != size or not _is_distribution(row) for row in self.rows):
            raise InputError("matrix: must be square, with rows of probabilities that sum exactly to one")
        if any(min(column) == 0 < max(column) for column in self.columns):
            raise InputError(
                "matrix: a report is possible for some truths only, so that the loss is infinite"
            )

    @property
    def cardinality(self) -> int:
        """The number of categories."""
        return len(self.rows)

    @cached_property
    def columns(self) -> tuple[tuple[Fraction, ...], ...]:
        """The entries of every column, each object once: equal entries of a large matrix are mostly one."""
        return tuple(
            tuple({id(entry): entry for entry in column}.values()) for column in zip(*self.rows, strict=True)
        )

    @cached_property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two entries of a column: the exponential of the loss."""
        return largest_ratio(self.columns)

    @cached_property
    def loss(self) -> float:
        """ln of the likelihood ratio, in nats, rounded up."""
        return log_at_least(self.likelihood_ratio)

    @property
    def reported(self) -> tuple[int, ...]:
        """Codes that may be reported; the others are censored."""
        return tuple(code for code, column in enumerate(self.columns) if max(column) > 0)

    def distortion(self, source: Source) -> Fraction:
        """The expected share of changed cells under the worst distribution of the source."""
        return 1 - source.least_mean([row[code] for code, row in enumerate(self.rows)])

    def expected(self, scores: Sequence[Number]) -> Row:
        """E[f(report) | truth] = (Q f)(truth) for every truth: the exact effect on any function of the cell.

        It is a multiple of f (up to a constant) for all f only where the matrix is that of randomized
        response: else no single retention describes it.
        """
        numbers = [fraction_of(score) for score in scores]
        if len(numbers) != self.cardinality:
            raise InputError(f"scores: are {len(numbers)}, must be {self.cardinality}, one a category")
        return tuple(
            sum((share * score for share, score in zip(row, numbers, strict=True)), Fraction(0))
            for row in self.rows
        )

    def released_marginal(self, marginal: Sequence[Number]) -> Row:
        """The distribution of the reports for a distribution of the truths."""
        shares = [fraction_of(share) for share in marginal]
        if len(shares) != self.cardinality:
            raise InputError(f"marginal: has {len(shares)} shares, must have {self.cardinality}")
        return tuple(
            sum((share * row[code] for share, row in zip(shares, self.rows, strict=True)), Fraction(0))
            for code in range(self.cardinality)
        )

    def inverse(self) -> Any:
        """The inverse as doubles, shape (r, r): released shares times it are unbiased for the true ones.

        Raises InputError where there is none: a censored category cannot be brought back.
        """
        import numpy as np

        entries = self.as_array()
        if len(self.reported) < self.cardinality or np.linalg.cond(entries) > _WORST_CONDITION:
            censored = self.cardinality - len(self.reported)
            raise InputError(
                f"matrix: has no inverse, {censored} of {self.cardinality} categories are never reported; "
                "marginals cannot be corrected. Ask for a smaller distortion, or use randomized response"
            )
        return np.linalg.inv(entries)

    def as_array(self) -> Any:
        """The entries as doubles, shape (r, r)."""
        import numpy as np

        return np.array([[float(entry) for entry in row] for row in self.rows])


def largest_ratio(columns: Iterable[Sequence[int] | Sequence[Fraction]]) -> Fraction:
    """The largest ratio of two numbers of one column, of columns that are all zero or all positive."""
    limits = ((min(column), max(column)) for column in columns)
    return max(Fraction(most) / least for least, most in limits if most > 0)


def _is_distribution(row: Row) -> bool:
    """No share below 0, and their sum exactly 1: whole numbers over one denominator are summed faster."""
    whole = lcm(*{share.denominator for share in row})
    return all(share.numerator >= 0 for share in row) and whole == sum(
        share.numerator * (whole // share.denominator) for share in row
    )


def matrix_of(weights: Sequence[Fraction], ratio: Fraction) -> StochasticMatrix:
    """The matrix that reports the truth i with probability `ratio` w_i / (`ratio` + y - 1), y = sum w.

    `weights` in 0..1, their sum y >= 1, `ratio` >= 1. What is left of a row is spread over the other
    reports in proportion to their weights. Its likelihood ratio is at most `ratio`: with m_j = w_j /
    (ratio + y - 1) every entry of column j lies in [m_j, ratio m_j]. The diagonal does. Off it the entry is
    m_j (ratio + y - 1 - ratio w_i) / (y - w_i); that is >= m_j as (ratio - 1)(1 - w_i) >= 0, and <= ratio m_j
    as (ratio - 1)(y - 1) >= 0.
    """
    total = sum(weights, Fraction(0))
    if ratio < 1 or total < 1 or min(weights) < 0 or max(weights) > 1:
        raise ValueError("matrix_of: needs a ratio >= 1 and weights in 0..1 that sum to 1 or more")
    whole = ratio + total - 1
    rows, spread_by = [], {}
    for i, weight in enumerate(weights):
        kept = ratio * weight / whole
        # truths with the same weight differ on the diagonal only
        if weight not in spread_by:
            # y = w_i: only i is ever reported, and kept is 1
            spread = (1 - kept) / (total - weight) if total > weight else Fraction(0)
            spread_by[weight] = _multiplied(weights, spread)
        rest = spread_by[weight]
        rows.append((*rest[:i], kept, *rest[i + 1 :]))
    return StochasticMatrix(tuple(rows))


def _multiplied(weights: Sequence[Fraction], factor: Fraction) -> Row:
    """`factor` times every weight, one object for equal ones."""
    products = {weight: factor * weight for weight in dict.fromkeys(weights)}
    return tuple(products[weight] for weight in weights)
