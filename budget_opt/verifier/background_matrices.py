"""The implemented matrix of a block with another background than the uniform one (DESIGN 2.1, 2.8).

It is rebuilt from the file's integers: counts[v] of the 2^b words lead to category v whatever the truth, and
the others leave it. Row x is thus the counts, with what is left of the words added at x: a column has one
entry above its count, and the largest ratio of two entries is in the column of the least count. Nothing of
size r x r is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.exact import log_at_least


@dataclass(frozen=True)
class BackgroundMatrix:
    """Of `words` equally likely words `counts[v]` lead to v whatever the truth; the rest leaves the truth."""

    words: int
    counts: tuple[int, ...]

    @classmethod
    def of(cls, block: AllocatedBlock) -> BackgroundMatrix:
        """The matrix of a block's counts; without a sampler the report is the background itself (R36)."""
        sampler = block.sampler
        if isinstance(sampler, BackgroundSampler):
            return cls(2**sampler.bits, sampler.counts)
        weights = block.block.background_weights or (1,) * block.cardinality
        return cls(sum(weights), weights)

    @property
    def cardinality(self) -> int:
        """r, the number of (joint) categories."""
        return len(self.counts)

    def seen(self, shape: Sequence[int], members: Sequence[int]) -> BackgroundMatrix:
        """The matrix of these members alone, `shape` being the categories of all: counts add up."""
        joint = np.empty(len(self.counts), dtype=object)  # whole numbers of any length
        joint[:] = self.counts
        others = tuple(axis for axis in range(len(shape)) if axis not in members)
        sums = joint.reshape(tuple(shape)).sum(axis=others) if others else joint
        return BackgroundMatrix(self.words, tuple(sums.ravel().tolist()))

    @cached_property
    def kept_words(self) -> int:
        """lambda times `words`."""
        return self.words - sum(self.counts)

    @property
    def is_stochastic(self) -> bool:
        """True where every report is possible and no more words are used than there are."""
        return min(self.counts) > 0 and self.kept_words >= 0

    @property
    def least(self) -> Fraction:
        """The smallest entry."""
        return Fraction(min(self.counts), self.words)

    @property
    def retention(self) -> Fraction:
        """lambda."""
        return Fraction(self.kept_words, self.words)

    @property
    def truth(self) -> None:
        """P(report = truth) is not one number."""
        return None

    @property
    def other(self) -> None:
        """P(report = one given other category) is not one number."""
        return None

    @cached_property
    def loss(self) -> float:
        """The largest log ratio of two entries of a column, in nats, rounded up; inf where there is none."""
        if not self.is_stochastic:
            return inf
        return log_at_least(1 + Fraction(self.kept_words, min(self.counts)))
