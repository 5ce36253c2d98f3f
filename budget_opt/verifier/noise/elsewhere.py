"""Does the noise of a row depend on what ANOTHER row says? Given the originals it must not.

Whether a cell is changed, and whether it is shifted by an odd number, are given the originals one and the
same event in every row, independent of all other rows. Rows grouped by any function of the originals, so
also by the truth of any attribute some rows before or after, thus have a hypergeometric number of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import IntArray
from budget_opt.verifier import hypergeometric
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block, block_rows
from budget_opt.verifier.noise.evidence import NoiseEvidence, combined, deviations_noticed
from budget_opt.verifier.noise.lags import MOVED, SERIAL

Marks = npt.NDArray[np.float32]

MOST_ATTRIBUTES = 64
"""Up to which rows farther apart than `MOVED` are compared."""
# no digit in a claim: where it fails it is told without any number (R35)
_NEARBY = "the noise of an attribute does not depend on what any row up to four before or after says"
_FAR = "the changes of an attribute do not depend on what rows at some distances up to ten thousand say"
_GROUP_ROWS, _MOST_GROUPS = 160, 8
_KINDS = 2


class _Apart:
    """Rows some rows apart: marks of what one says by marks of the noise of the other, within blocks.

    `truths` and `noises` give for every mark the attribute that it is of.
    """

    def __init__(self, truths: Sequence[int], noises: Sequence[int], lags: Sequence[int]) -> None:
        self.truths, self.noises, self.lags = np.array(truths), np.array(noises), tuple(lags)
        # the last mark of either side is of all rows; of each lag, the truth before and after the noise
        self._counts = np.zeros((len(lags), 2, len(truths) + 1, len(noises) + 1), dtype=np.int64)

    def add(self, truths: Marks, noises: Marks) -> None:
        """Take the marks of a block, each followed by a row of 1; products up to 2^24 are exact."""
        rows = truths.shape[1]
        for counts, lag in zip(self._counts, self.lags, strict=True):
            if lag < rows:
                counts[0] += (truths[:, : rows - lag] @ noises[:, lag:].T).astype(np.int64)
                counts[1] += (truths[:, lag:] @ noises[:, : rows - lag].T).astype(np.int64)

    def of(self, judged: Collection[int]) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Counts in both, in either, and all rows; last which (truth, noise) each test is about."""
        u, v = (np.flatnonzero(np.isin(side, list(judged))) for side in (self.truths, self.noises))
        both = self._counts[..., u[:, None], v]
        about = np.stack(np.broadcast_arrays(self.truths[u][:, None], self.noises[v]), axis=-1)
        return (
            both,
            self._counts[..., u, -1][..., None],
            self._counts[..., -1, v][..., None, :],
            self._counts[..., -1:, -1:],
            about.reshape(-1, 2),
        )


class ElsewhereTally:
    """The noise of every attribute by the truth of every attribute, itself included, in rows nearby.

    Within `MOVED` rows the truth is told in up to 8 groups of neighbouring categories; at the other distances
    of `lags.SERIAL` only as even or odd, and there with at most `MOST_ATTRIBUTES` attributes.
    """

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm / _KINDS
        every = range(len(channels))
        most = min(_MOST_GROUPS, max(2, _GROUP_ROWS // len(channels)))
        self._groups = [min(channel.cardinality, most) for channel in channels]
        # of two groups, one says all
        told = [i for i in every for _ in range(self._groups[i] if self._groups[i] > 2 else 1)]
        self._turned = [i for i in every if channels[i].cardinality > 2]
        self._near = _Apart(told, [*every, *self._turned], MOVED)
        few = len(channels) <= MOST_ATTRIBUTES
        reached = block_rows(len(channels)) // 2
        far = [lag for lag in SERIAL if MOVED[-1] < lag <= reached] if few else []
        self._far = _Apart(every, every, far)

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        noises = _with_all([*block.changed, *(block.shifts[i] % 2 == 1 for i in self._turned)])
        self._near.add(self._grouped(block), noises)
        if self._far.lags:
            odd = _with_all([truth % 2 == 1 for truth in block.truths])
            self._far.add(odd, _with_all(block.changed))

    def _grouped(self, block: Block) -> Marks:
        marks = []
        for channel, groups, truth in zip(self._channels, self._groups, block.truths, strict=True):
            group = truth
            if groups < channel.cardinality:
                group = (truth.astype(np.int64) * groups // channel.cardinality).astype(np.uint8)
            marks += [group == u for u in range(groups if groups > 2 else 1)]
        return _with_all(marks)

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on these attributes."""
        yield self._told(_NEARBY, self._near, judged)
        if self._far.lags:
            yield self._told(_FAR, self._far, judged)

    def _told(self, claim: str, apart: _Apart, judged: Collection[int]) -> NoiseEvidence:
        both, first, second, rows, about = apart.of(judged)
        return combined(
            claim,
            hypergeometric.two_sided(both, first, second, rows),
            self._alarm,
            lambda test: self._in_words(*about[test % len(about)]),
            notices=_smallest_in_words(
                first[0, 0], second[0, 0], int(rows[0, 0, 0, 0]), self._alarm, both.size
            ),
            source=f"hypergeometric given all changes, by truths {distances_in_words(apart.lags)} rows away",
        )

    def _in_words(self, truth: int, noise: int) -> str:
        return f"{self._channels[noise].name} by {self._channels[truth].name}"


def distances_in_words(lags: Sequence[int]) -> str:
    """5 to 8, 10, 16, 1,000: runs of consecutive distances are put together."""
    runs: list[list[int]] = []
    for lag in lags:
        if runs and lag == runs[-1][-1] + 1:
            runs[-1].append(lag)
        else:
            runs.append([lag])
    told = [f"{run[0]:,} to {run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in runs]
    return ", ".join(told[:-1]) + f" or {told[-1]}" if len(told) > 1 else told[0]


def _with_all(marks: Sequence[npt.NDArray[np.bool_]] | npt.NDArray[np.bool_]) -> Marks:
    """The marks as numbers, and a last one that every row has."""
    return np.stack([*marks, np.ones(marks[0].size, dtype=bool)]).astype(np.float32)


def _smallest_in_words(first: IntArray, second: IntArray, rows: int, alarm: float, tests: int) -> str:
    """The smallest dependence that is noticed, of the pair of marks where it is smallest, about."""
    of_rows = np.minimum(first, rows - first).max(initial=0) / max(rows, 1)
    if of_rows == 0 or not np.any((second > 0) & (second < rows)):
        return "nothing: what the rows say, or what is changed, does not differ"
    smallest = deviations_noticed(alarm, tests) / math.sqrt(rows)
    if smallest >= 1:
        return "nothing: there are too few rows"
    return f"about a correlation of {smallest:.2g} between the noise of a row and what another one says"
