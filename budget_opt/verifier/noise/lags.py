"""Does the noise of a row go together with that of an earlier one: words used again, or that remember?

Across attributes, a few rows apart: a column that uses the words of another one, moved by some rows. Not
within a cluster: rows i, i + k and i + 2 k of its columns make two pairs that have a row in common.
Within one attribute the products of row i and row i + k share rows with each other, so the rows are cut
into stretches of k and each stretch is paired with the next: first those that begin at an even stretch,
then the others. Within either half no row stands twice, and the number of pairs changed in both is
hypergeometric.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from budget_opt.verifier import hypergeometric
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block, BoolArray, block_rows
from budget_opt.verifier.noise.evidence import NoiseEvidence, combined, correlation_in_words
from budget_opt.verifier.noise.pairs import CrossCounts, marks_of

MOVED = (1, 2, 3, 4)
"""Rows by which another column's words may be moved."""
SERIAL = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    10,
    16,
    32,
    64,
    100,
    128,
    256,
    512,
    1_000,
    1_024,
    2_048,
    4_096,
    8_192,
    10_000,
)
"""Rows apart that are compared within a column: neighbours, powers of two, usual sizes of batches."""
_KINDS = 2


class LagTally:
    """Pairs of rows some rows apart, within blocks."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm / _KINDS
        self._moved = {lag: CrossCounts(len(channels), lag) for lag in MOVED}
        self._lags = [lag for lag in SERIAL if lag <= block_rows(len(channels)) // 2]
        # of each lag and half: changed in both, in the earlier, in the later, and all pairs of rows
        self._serial = np.zeros((len(self._lags), 2, 4, len(channels)), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        marks = marks_of(block)
        for counts in self._moved.values():
            counts.add(marks)
        for of_lag, lag in zip(self._serial, self._lags, strict=True):
            for half in (0, 1):
                of_lag[half] += _pairs(block.changed[:, half * lag :], lag)

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on moved copies and on serial dependence."""
        of = sorted(judged)
        if len({self._channels[i].block for i in of}) > 1:
            yield self._moved_evidence(of)
        both, earlier, later, rows = np.moveaxis(self._serial[..., of], 2, 0)
        yield combined(
            "the changes of an attribute are independent from row to row",
            hypergeometric.two_sided(both, earlier, later, rows),
            self._alarm,
            lambda test: self._serial_label(of, test),
            notices=correlation_in_words(
                float(rows[0, 0, 0]), self._alarm, both.size, "the changes of neighbouring rows"
            ),
            source="hypergeometric given the changes of either row, up to 10,000 rows apart",
        )

    def _moved_evidence(self, of: list[int]) -> NoiseEvidence:
        a, b = (index.ravel() for index in np.meshgrid(of, of, indexing="ij"))
        blocks = np.array([channel.block for channel in self._channels])
        apart = blocks[a] != blocks[b]
        a, b = a[apart], b[apart]
        tails = [counts.tails()[a, b] for counts in self._moved.values()]
        rows = float(self._moved[MOVED[0]].counts[-1, -1])
        tests = len(MOVED) * a.size

        def label(test: int) -> str:
            pair = test % a.size
            earlier, later = self._channels[a[pair]].name, self._channels[b[pair]].name
            return f"{later} after {earlier}"

        return combined(
            "the changes of an attribute are independent of those of another some rows before",
            np.stack(tails),
            self._alarm,
            label,
            notices=correlation_in_words(
                rows, self._alarm, tests, f"the changes of two attributes up to {MOVED[-1]} rows apart"
            ),
            source="hypergeometric given the changes of each",
        )

    def _serial_label(self, of: list[int], test: int) -> str:
        return self._channels[of[test % len(of)]].name


def _pairs(changed: BoolArray, lag: int) -> np.ndarray:
    """Of stretches 0 and 1, 2 and 3, … of `lag` rows: changed in both, in either, and all pairs; (4, M)."""
    attributes, rows = changed.shape
    couples = rows // (2 * lag)
    if couples == 0:
        return np.zeros((4, attributes), dtype=np.int64)
    stretches = changed[:, : 2 * lag * couples].reshape(attributes, couples, 2, lag)
    earlier, later = (np.ascontiguousarray(stretches[:, :, side]).reshape(attributes, -1) for side in (0, 1))
    counted = [np.count_nonzero(of, axis=1) for of in (earlier & later, earlier, later)]
    return np.stack([*counted, np.full(attributes, couples * lag)])
