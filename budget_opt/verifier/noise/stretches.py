"""Are all parts of the release randomized alike? Stretches of rows, and the ends of batches.

Of all changed cells of an attribute the number that lies among any rows chosen beforehand is hypergeometric,
whatever the probability of a change. Stretches are of 2^j rows that begin at a multiple of 2^j; all of a size
have one law, so the largest and the smallest count decide for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from budget_opt.verifier.channels import Channel
from budget_opt.verifier.hypergeometric import two_sided
from budget_opt.verifier.noise.blocks import Block, FloatArray, block_rows
from budget_opt.verifier.noise.evidence import NoiseEvidence, combined, deviations_noticed

SHORTEST = 2**8
_LEVELS = 40
_CLAIM = "every stretch of rows is changed as often as it should be"


class StretchTally:
    """The most and the fewest changes among the stretches of each size, for every attribute."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm
        self._most = np.zeros((_LEVELS, len(channels)), dtype=np.int64)
        self._fewest = np.full((_LEVELS, len(channels)), np.iinfo(np.int64).max)
        self._number = np.zeros(_LEVELS, dtype=np.int64)
        self._changed = np.zeros(len(channels), dtype=np.int64)
        self._rows = 0
        self._waiting: dict[int, npt.NDArray[np.int64]] = {}
        self._block_level = (block_rows(len(channels)) // SHORTEST).bit_length() - 1

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        self._changed += np.count_nonzero(block.changed, axis=1)
        self._rows += block.rows
        whole = block.rows // SHORTEST
        cells = block.changed[:, : whole * SHORTEST].reshape(len(self._channels), whole, SHORTEST)
        counts, level = np.count_nonzero(cells, axis=2), 0
        while counts.shape[1]:
            if level == self._block_level:
                self._carry(counts[:, 0], level)
                return
            self._note(counts, level)
            even = counts.shape[1] // 2 * 2
            counts, level = counts[:, :even:2] + counts[:, 1:even:2], level + 1

    def _carry(self, count: npt.NDArray[np.int64], level: int) -> None:
        """A whole block joins the one before it to a stretch of twice the size, and so on."""
        self._note(count[:, None], level)
        while (before := self._waiting.pop(level, None)) is not None:
            count, level = before + count, level + 1
            self._note(count[:, None], level)
        self._waiting[level] = count

    def _note(self, counts: npt.NDArray[np.int64], level: int) -> None:
        self._most[level] = np.maximum(self._most[level], counts.max(axis=1))
        self._fewest[level] = np.minimum(self._fewest[level], counts.min(axis=1))
        self._number[level] += counts.shape[1]

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on the stretches of these attributes; none where there are fewer rows than one has."""
        of = sorted(judged)
        levels = np.flatnonzero(self._number)
        if not levels.size:
            return
        sizes = (SHORTEST * 2**levels).astype(np.float64)
        changed = np.array([float(self._channels[i].changed) for i in of])
        extremes = np.stack([side[levels][:, of] for side in (self._most, self._fewest)])
        tails = two_sided(extremes, self._changed[of], sizes[:, None], self._rows)
        tails = tails.min(axis=0) * self._number[levels][:, None]
        found = combined(
            _CLAIM,
            tails,
            self._alarm,
            lambda test: self._channels[of[test % len(of)]].name,
            notices=self._words(sizes, changed, int(self._number[0]) * tails.size),
            source="hypergeometric given all changes, for stretches of 256, 512, … rows",
        )
        yield replace(found, tests=int(self._number.sum()) * len(of))

    def _words(self, sizes: FloatArray, changed: FloatArray, tests: int) -> str:
        """Of the shortest stretch, and of the longest of which there are four."""
        unit = deviations_noticed(self._alarm, tests) * math.sqrt(float((changed * (1 - changed)).max()))
        longest = sizes[np.flatnonzero(self._number[: sizes.size] >= 4)[-1:]]
        if unit / math.sqrt(float(sizes.max())) >= max(changed.max(), 1 - changed.min()):
            return "nothing: there are too few rows"
        told = [
            f"a stretch of {size:,.0f} rows with about {100 * unit / math.sqrt(size):.2g} percentage points"
            for size in dict.fromkeys([sizes[0], *longest])
        ]
        return f"{', or '.join(told)} more or fewer changed cells"


BATCHES = tuple(
    sorted(
        {2**j for j in range(3, 21)}
        | {k * 10**j for j in range(1, 7) for k in (1, 2, 5) if k * 10**j <= 10**6}
    )
)
"""Rows of a batch that are usual."""
_ENDS = ("first", "last")


class BatchEndTally:
    """Changed cells in the first and the last row of each batch, by size of the batches."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm
        # the last entry is of whole rows that are changed in some attribute
        self._changed = np.zeros((len(BATCHES), len(_ENDS), len(channels) + 1), dtype=np.int64)
        self._rows = np.zeros((len(BATCHES), len(_ENDS), 1), dtype=np.int64)
        # the same of all rows, and after these their number
        self._all = np.zeros(len(channels) + 2, dtype=np.int64)

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        self._all[:-2] += np.count_nonzero(block.changed, axis=1)
        self._all[-2] += block.rows - np.count_nonzero(block.whole_rows)
        self._all[-1] += block.rows
        for i, batch in enumerate(BATCHES):
            for end, row in enumerate((0, batch - 1)):
                chosen = slice((row - block.first_row) % batch, None, batch)
                self._changed[i, end, :-1] += np.count_nonzero(block.changed[:, chosen], axis=1)
                rows = block.whole_rows[chosen]
                self._changed[i, end, -1] += rows.size - np.count_nonzero(rows)
                self._rows[i, end] += rows.size

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on the batches' ends of these attributes, and where all are judged of whole rows."""
        of = sorted(judged)
        names = [self._channels[i].name for i in of]
        changed = [float(self._channels[i].changed) for i in of]
        if len(of) == len(self._channels):
            of, names = [*of, len(of)], [*names, "the rows as a whole"]
            wholes = [channel for channel in self._channels if channel.is_whole]
            changed.append(1 - math.prod(1 - float(channel.changed) for channel in wholes))
        tails = two_sided(self._changed[..., of], self._all[of], self._rows, self._all[-1])
        yield combined(
            "the first and the last row of a batch are changed as often as all others",
            tails,
            self._alarm,
            lambda test: names[test % len(names)],
            notices=self._words(max(changed), tails.size),
            source=f"hypergeometric given all changes, for {len(BATCHES)} usual sizes of batches",
        )

    def _words(self, changed: float, tests: int) -> str:
        needed = int(np.ceil(np.log(2 * tests / self._alarm) / -np.log1p(-min(changed, 1 - 1e-15))))
        ends = int(self._rows[0, 1, 0]) * BATCHES[0]
        if ends < needed * BATCHES[0]:
            return f"nothing: {needed:,} batches would be needed, and there are too few rows"
        return f"batches of up to {ends // needed:,} rows whose last row is left as it was"
