"""Does the noise depend on what the row says? Given the originals it must not.

- Of the rows changed in attribute a, and of those shifted by an odd number, the number whose attribute b has
  a certain category is hypergeometric, for every b of another block. (That of its own is judged in
  `transitions`.)
- Of two rows that are alike in every attribute, the shifts of attribute a are equal with probability
  sum_s P(s)^2 = (1 - f)^2 + f^2 / (r - 1), f = P(changed). Each row is in one couple at most, chosen by
  looking at the originals only, so the number of couples with equal shifts is binomial. Noise that is a
  function of the record, as of a generator that is seeded by it, makes all of them equal.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.tables.binomial import two_sided
from budget_opt.tables.counting import AnyCodes, joint_counts
from budget_opt.verifier import hypergeometric
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block
from budget_opt.verifier.noise.evidence import NoiseEvidence, combined, count_in_words, deviations_noticed

LARGEST_GROUPS = 64
"""Categories of b up to which each is a group; of more, neighbours are put together."""
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
"""Which of eight attributes are changed, by the byte that holds it; shape (256, 8)."""


class ContentTally:
    """Cells of each attribute that are changed, and shifted by an odd number, by the truth of the others."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm
        self._groups = [min(channel.cardinality, LARGEST_GROUPS) for channel in channels]
        self._turned = [i for i, channel in enumerate(channels) if channel.cardinality > 2]
        # the attribute of each column of the counts: all changes, then all odd shifts
        self._noises = np.array([*range(len(channels)), *self._turned])
        self._changed = [np.zeros((groups, self._noises.size), dtype=np.int64) for groups in self._groups]
        self._rows = [np.zeros(groups, dtype=np.int64) for groups in self._groups]

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        odd = [block.shifts[i] % 2 == 1 for i in self._turned]
        packed = np.packbits(np.stack([*block.changed, *odd]), axis=0)
        for b, truth in enumerate(block.truths):
            group = grouped(truth, self._channels[b].cardinality)
            for i, byte in enumerate(packed):
                counts = joint_counts([group, byte], (self._groups[b], 256))
                part = self._changed[b][:, 8 * i : 8 * i + 8]
                part += (counts.astype(np.float64) @ _BITS)[:, : part.shape[1]].astype(np.int64)
            self._rows[b] += counts.sum(axis=1)

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on these attributes, of two blocks at least."""
        of = sorted(judged)
        blocks = np.array([channel.block for channel in self._channels])
        if len(set(blocks[of])) < 2:
            return
        tails, about, smallest = [], [], math.inf
        changed = np.array([float(self._channels[i].changed) for i in of])
        tests = sum(self._groups[b] for b in of) * int(np.isin(self._noises, of).sum())
        unit = deviations_noticed(self._alarm, tests)
        for b in of:
            columns = np.flatnonzero(np.isin(self._noises, of) & (blocks[self._noises] != blocks[b]))
            rows = self._rows[b][:, None]
            counts = self._changed[b][:, columns]
            tails.append(hypergeometric.two_sided(counts, counts.sum(axis=0), rows, rows.sum()).ravel())
            about += [(a, b) for _ in range(self._groups[b]) for a in self._noises[columns]]
            others = [i for i, a in enumerate(of) if blocks[a] != blocks[b]]
            spread = np.sqrt(changed[others] * (1 - changed[others]) / max(int(rows.max()), 1))
            smallest = min(smallest, unit * float(spread.min()))
        yield combined(
            "the changes of an attribute do not depend on the truth of another one",
            np.concatenate(tails),
            self._alarm,
            lambda test: " by ".join(self._channels[i].name for i in about[test]),
            notices=f"about {100 * smallest:.2g} percentage points more or fewer changed cells of an "
            "attribute where another one has a certain category, at best"
            if smallest < max(changed.max(), 1 - changed.min())
            else "nothing: there are too few rows",
            source="hypergeometric given all changes, by category",
        )


class AlikeTally:
    """Couples of rows of a block that are alike, and how many of them have equal shifts, by attribute."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm
        self._couples = 0
        self._equal = np.zeros(len(channels), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        first, second = _couples(block.records)
        self._couples += first.size
        self._equal += [np.count_nonzero(shift[first] == shift[second]) for shift in block.shifts]

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on these attributes."""
        of = sorted(judged)
        chance = np.array([equal_shifts(self._channels[i]) for i in of])
        needed = math.log(2 * len(of) / self._alarm) / -math.log(min(float(chance.min()), 1 - 1e-15))
        enough = self._couples >= needed
        yield combined(
            "records that are alike get different noise",
            two_sided(self._equal[of], self._couples, chance),
            self._alarm,
            lambda test: self._channels[of[test]].name,
            notices="noise that is a function of the record"
            if enough
            else f"nothing: {count_in_words(self._couples, 'couple')} of alike records can tell too little",
            source="exact binomial tests of equal shifts",
        )


def equal_shifts(channel: Channel) -> float:
    """The probability that two cells have the same shift."""
    changed = float(channel.changed)
    return (1 - changed) ** 2 + changed**2 / (channel.cardinality - 1)


def grouped(truth: AnyCodes, cardinality: int) -> AnyCodes:
    """The category, or of more than `LARGEST_GROUPS` the group of neighbours that it is in."""
    if cardinality <= LARGEST_GROUPS:
        return truth
    neighbours: AnyCodes = truth.astype(np.int64) * LARGEST_GROUPS // cardinality
    return neighbours


def _couples(known: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The first and the second rows of the couples; rows are known by the hash of what they say.

    Rows that are not alike and yet have one hash are a couple too, which is as good under the null.
    """
    order = np.argsort(known, kind="stable")
    starts = np.flatnonzero(np.diff(known[order], prepend=~known[order[:1]]))
    lengths = np.diff(np.append(starts, order.size))
    place = np.arange(order.size) - np.repeat(starts, lengths)
    second = np.flatnonzero(place % 2 == 1)
    return order[second - 1], order[second]
