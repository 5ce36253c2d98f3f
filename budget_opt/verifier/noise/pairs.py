"""Do the noises of two attributes go together in the same row? One seed for every column makes them.

Columns of one cluster are left out, whose noise must go together: it is judged as that of one column.

Given the originals, the changes of different attributes are independent, and where both are changed
- the two shifts are equal with probability 1 / (max(r_a, r_b) - 1), as each is uniform over 1 .. r - 1;
- the two reported categories are equal with probability c / ((r_a - 1)(r_b - 1)), c the number of
  categories that neither row's truth is: with r_a <= r_b it is r_a - 2 where the truths differ and the
  truth of b is below r_a, else r_a - 1.
The first shows words that decide what is changed, the others words that decide into what. The fourth test
is of the products of w = (report - E[report | truth]) / (r - 1): words that go together in any monotone
way, also between different r. Given the originals they have mean 0, variance v_a v_b, and size at most 1,
so that Bernstein's bound holds for their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from budget_opt.tables.binomial import two_sided
from budget_opt.tables.counting import AnyCodes, IntArray
from budget_opt.verifier import hypergeometric
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block, FloatArray
from budget_opt.verifier.noise.evidence import (
    NoiseEvidence,
    combined,
    correlation_in_words,
    deviations_noticed,
)

ALL_COMPARED, NEAR_COMPARED = 64, 8
"""Attributes up to which cells are compared for all pairs; with how many next ones where there are more."""
_KINDS = 4
_PAIRS = "different attributes"


class CrossCounts:
    """How many pairs of rows, `lag` apart, are changed in attribute a and then in attribute b.

    `counts` has shape (M + 1, M + 1): its last row and column are of all rows. Pairs of rows in different
    blocks are left out.
    """

    def __init__(self, attributes: int, lag: int = 0) -> None:
        self._lag = lag
        self.counts = np.zeros((attributes + 1, attributes + 1), dtype=np.int64)

    def add(self, marks: npt.NDArray[np.float32]) -> None:
        """Take a block's changes, shape (M + 1, rows), the last row all 1; products up to 2^24 are exact."""
        rows = marks.shape[1] - self._lag
        if rows > 0:
            self.counts += (marks[:, :rows] @ marks[:, self._lag :].T).astype(np.int64)

    def tails(self) -> FloatArray:
        """The two-sided tail of each pair, shape (M, M), given how many cells of each are changed."""
        inner = self.counts[:-1, :-1]
        margins = self.counts[:-1, -1:], self.counts[-1:, :-1], self.counts[-1, -1]
        tails: FloatArray = hypergeometric.two_sided(inner, *margins)
        return tails


def marks_of(block: Block) -> npt.NDArray[np.float32]:
    """The changes of a block as `CrossCounts` wants them."""
    changed = block.changed
    return np.concatenate([changed, np.ones((1, block.rows), dtype=bool)]).astype(np.float32)


class PairTally:
    """All pairs of attributes, row by row."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm / _KINDS
        # the noises of one block go together by design
        self._pairs = [
            (a, b) for a, b in combinations(range(len(channels)), 2) if channels[a].block != channels[b].block
        ]
        near = len(channels) if len(channels) <= ALL_COMPARED else NEAR_COMPARED
        # those whose cells are compared one by one
        self._compared = [i for i, (a, b) in enumerate(self._pairs) if b - a <= near]
        self._changes = CrossCounts(len(channels))
        self._same_shift = np.zeros((len(self._pairs), 2), dtype=np.int64)
        # by whether one common category fewer is left, then equal reports and all rows
        self._same_category = np.zeros((len(self._pairs), 2, 2), dtype=np.int64)
        self._product = np.zeros((2, len(channels), len(channels)))

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        self._changes.add(marks_of(block))
        for i in self._compared:
            self._compare(i, *self._by_cardinality(*self._pairs[i]), block)
        scores, variances = zip(
            *(
                _residuals(one, x, y)
                for one, x, y in zip(block.channels, block.truths, block.reports, strict=True)
            ),
            strict=True,
        )
        for side, values in enumerate((np.stack(scores), np.stack(variances))):
            self._product[side] += values @ values.T

    def _by_cardinality(self, a: int, b: int) -> tuple[int, int]:
        return (a, b) if self._channels[a].cardinality <= self._channels[b].cardinality else (b, a)

    def _compare(self, i: int, a: int, b: int, block: Block) -> None:
        both = block.changed[a] & block.changed[b]
        same_shift = (block.shifts[a] == block.shifts[b]) & both
        fewer = (block.truths[a] != block.truths[b]) & both
        if self._channels[a].cardinality < self._channels[b].cardinality:
            fewer &= block.truths[b] < self._channels[a].cardinality
        same = (block.reports[a] == block.reports[b]) & both
        counted = [np.count_nonzero(of) for of in (both, same_shift, fewer, same, same & fewer)]
        changed, shifts, one_fewer, categories, of_fewer = counted
        self._same_shift[i] += (shifts, changed)
        self._same_category[i] += ((categories - of_fewer, changed - one_fewer), (of_fewer, one_fewer))

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Four kinds of evidence on all pairs of these attributes."""
        among = set(judged)
        wanted = [i for i, pair in enumerate(self._pairs) if among.issuperset(pair)]
        if not wanted:
            return
        pairs = [self._pairs[i] for i in wanted]
        first, second = np.array(pairs).T
        rows = int(self._changes.counts[-1, -1])
        label = self._label(pairs)
        yield combined(
            "the changes of different attributes are independent of each other",
            self._changes.tails()[first, second],
            self._alarm,
            label,
            notices=correlation_in_words(rows, self._alarm, len(pairs), f"the changes of {_PAIRS}"),
            source="hypergeometric given the changes of each",
        )
        yield self._shift_evidence(wanted, label)
        yield self._category_evidence(wanted, label)
        yield combined(
            "what different attributes are changed into does not go together",
            bernstein_tails(self._product[0][first, second], self._product[1][first, second], rows),
            self._alarm,
            label,
            notices=correlation_in_words(rows, self._alarm, len(pairs), f"the noise of {_PAIRS}"),
            source="Bernstein's bound given the originals",
        )

    def _label(self, pairs: Sequence[tuple[int, int]]) -> Callable[[int], str]:
        def label(test: int) -> str:
            a, b = pairs[test % len(pairs)]
            return f"{self._channels[a].name} and {self._channels[b].name}"

        return label

    def _shift_evidence(self, wanted: list[int], label: Callable[[int], str]) -> NoiseEvidence:
        same, both = self._same_shift[wanted].T
        larger = np.array([max(self._sizes(i)) for i in wanted])
        return combined(
            "the shifts of different attributes are independent of each other",
            np.where(larger > 2, two_sided(same, both, 1 / np.maximum(larger - 1, 1)), 1.0),
            self._alarm,
            label,
            notices=_shares_in_words(both, 1 / np.maximum(larger - 1, 1), self._alarm, "shift"),
            source="exact binomial test of equal shifts",
        )

    def _category_evidence(self, wanted: list[int], label: Callable[[int], str]) -> NoiseEvidence:
        counts = self._same_category[wanted]
        small, large = np.array([sorted(self._sizes(i)) for i in wanted]).T
        chance = np.stack([small - 1, small - 2]) / ((small - 1) * (large - 1))
        return combined(
            "the categories that different attributes are changed into are independent of each other",
            two_sided(counts[:, :, 0].T, counts[:, :, 1].T, chance),
            self._alarm,
            label,
            notices=_shares_in_words(counts[:, :, 1].T, chance, self._alarm, "category"),
            source="exact binomial test of equal categories given the truths",
        )

    def _sizes(self, pair: int) -> tuple[int, int]:
        a, b = self._pairs[pair]
        return self._channels[a].cardinality, self._channels[b].cardinality


def bernstein_tails(total: FloatArray, variance: FloatArray, rows: int) -> FloatArray:
    """2 exp(-t^2 / 2 / (V + t / 3)) for |sum| >= t of terms of mean 0 and size <= 1, V their variance."""
    # sums of float32 products of a block are off by far less than this
    t = np.maximum(np.abs(total) - 1e-6 * math.sqrt(max(rows, 1)) * np.sqrt(variance) - 1e-6, 0.0)
    tails: FloatArray = np.minimum(1.0, 2 * np.exp(-(t**2) / 2 / (variance * (1 + 1e-5) + t / 3 + 1e-300)))
    return tails


def _residuals(
    channel: Channel, truth: AnyCodes, report: AnyCodes
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """(report - E[report | truth]) / (r - 1), and its variance given the truth."""
    r = channel.cardinality
    scores = np.arange(r) / (r - 1)
    mean = channel.expectation(scores)
    variance = (channel.expectation(scores**2) - mean**2).astype(np.float32)
    noise = scores.astype(np.float32)[report] - mean.astype(np.float32)[truth]
    return noise, variance[truth]


def _shares_in_words(rows: IntArray, chance: FloatArray, alarm: float, what: str) -> str:
    """The smallest excess over chance of the pair where it is smallest, about."""
    possible = (chance > 0) & (chance < 1) & (rows > 0)
    if not possible.any():
        return "nothing: there are too few rows or categories"
    n, p = rows[possible], np.broadcast_to(chance, rows.shape)[possible]
    excess = deviations_noticed(alarm, rows.size) * np.sqrt(p * (1 - p) / n)
    if np.all(p + excess > 1):
        return "nothing: there are too few rows"
    more = f"{100 * float(excess.min()):.2g} percentage points"
    return f"about {more} more of the rows changed in both with the same {what} than chance gives"
