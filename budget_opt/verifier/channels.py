"""An implemented matrix, rebuilt from the file's integers, acting on one axis of a table or on several.

P = lambda I + (1 - lambda) 1 q^T (DESIGN 2.1, 2.8), with q uniform or not. What is randomized as one, an
attribute or a cluster, is a *block*. Some members of a cluster, seen without the others, are randomized by
such a matrix too, over their own joint categories and with the lambda of the cluster (DESIGN 2.9): sum P over
the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


class _OfBlock(ABC):
    """What is randomized with others, or alone."""

    name: str
    cluster: str | None

    @property
    @abstractmethod
    def retention(self) -> Fraction:
        """lambda, the weight of the identity."""

    @abstractmethod
    def replaced(self, of: Any, axis: int = 0) -> FloatArray:
        """E g(y) of a replaced cell, for g given along `axis`, which stays with length 1."""

    def expectation(self, of: Any, axis: int = 0) -> FloatArray:
        """E[g(y) | x] for g given along `axis`: lambda g(x) + (1 - lambda) E_q g."""
        kept = float(self.retention)
        expected: FloatArray = kept * of + (1 - kept) * self.replaced(of, axis)
        return expected

    @property
    def block(self) -> str:
        """What it is randomized with: channels of different blocks are independent given the record."""
        return self.name if self.cluster is None else self.cluster

    @property
    def is_whole(self) -> bool:
        """False for a part of a block, of which the block's own channel says all."""
        return self.cluster is None


@dataclass(frozen=True)
class Channel(_OfBlock):
    """The matrix of `name` over r = `cardinality` categories; `other` is the probability of each wrong one.

    `scores` has shape (r,), None for nominal categories and for joint ones. `cluster` is the name of the
    block where this is only a part of one: the column of a member.
    """

    name: str
    cardinality: int
    other: Fraction
    scores: FloatArray | None
    cluster: str | None = None

    @property
    def others(self) -> FloatArray:
        """P(report = v | another truth) by v, (r,)."""
        return np.full(self.cardinality, float(self.other))

    @property
    def even(self) -> Channel:
        """Itself, as all categories are alike."""
        return self

    @property
    def changed(self) -> Fraction:
        """P(report != truth)."""
        return (self.cardinality - 1) * self.other

    @property
    def retention(self) -> Fraction:
        """lambda, the weight of the identity."""
        return 1 - self.cardinality * self.other

    def replaced(self, of: Any, axis: int = 0) -> FloatArray:
        """E g(y) of a replaced cell, for g given along `axis`, which stays with length 1: the mean of g."""
        return np.asarray(np.mean(of, axis=axis, keepdims=True))


@dataclass(frozen=True)
class BackgroundChannel(_OfBlock):
    """The matrix of `name` under a background that is not uniform.

    `words` are equally likely, `counts[v]` of them lead to v whatever the truth, the others leave it. The
    other fields are those of `Channel`.
    """

    name: str
    words: int
    counts: tuple[int, ...]
    scores: FloatArray | None
    cluster: str | None = None

    @property
    def cardinality(self) -> int:
        """r, the number of (joint) categories."""
        return len(self.counts)

    @property
    def retention(self) -> Fraction:
        """lambda, the weight of the identity."""
        return Fraction(self.words - sum(self.counts), self.words)

    @cached_property
    def others(self) -> FloatArray:
        """P(report = v | another truth) by v, (r,)."""
        return np.array([count / self.words for count in self.counts])

    @cached_property
    def changed_from(self) -> FloatArray:
        """P(report != truth | truth x) by x, (r,)."""
        drawn = sum(self.counts)
        return np.array([(drawn - count) / self.words for count in self.counts])

    @cached_property
    def even(self) -> Channel:
        """The matrix of as many categories that are all alike to which `evening` turns the reports.

        It leaves as many truths as this one does where these have the law of the background.
        """
        r, kept = self.cardinality, self.retention
        same = kept + (1 - kept) * Fraction(float(self.background @ self.background))
        return Channel(self.name, r, (1 - same) / (r - 1), self.scores, self.cluster)

    def replaced(self, of: Any, axis: int = 0) -> FloatArray:
        """E g(y) of a replaced cell, for g given along `axis`, which stays with length 1: E_q g."""
        table = np.asarray(of)
        share = self.background.reshape([-1 if i == axis else 1 for i in range(table.ndim)])
        return np.asarray((table * share).sum(axis=axis, keepdims=True))

    @cached_property
    def background(self) -> FloatArray:
        """q, the law of a replaced cell, (r,)."""
        drawn = sum(self.counts)
        return np.array([count / drawn for count in self.counts])


@dataclass(frozen=True)
class MatrixChannel:
    """The matrix of `name`, which a known source chose: `rows[x][y]` of `words` equally likely words.

    It has no retention and is in no moment; of one attribute that is randomized alone.
    """

    name: str
    words: int
    rows: tuple[tuple[int, ...], ...]

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return len(self.rows)

    @property
    def block(self) -> str:
        """What it is randomized with: itself."""
        return self.name

    @property
    def is_whole(self) -> bool:
        """True: it is no part of a block."""
        return True

    @cached_property
    def matrix(self) -> FloatArray:
        """P(report = y | truth = x), (r, r), rows the truth."""
        return np.array([[count / self.words for count in row] for row in self.rows])

    @cached_property
    def changed_from(self) -> FloatArray:
        """P(report != truth | truth x) by x, (r,)."""
        return np.array([(self.words - row[x]) / self.words for x, row in enumerate(self.rows)])

    @cached_property
    def even(self) -> Channel:
        """The matrix of as many categories that are all alike to which `evening` turns the reports.

        It leaves as many truths as this one does where all are equally frequent: at least 1 / r of them.
        """
        r = self.cardinality
        same = Fraction(sum(row[x] for x, row in enumerate(self.rows)), r * self.words)
        return Channel(self.name, r, min(Fraction(1, r), (1 - same) / (r - 1)), None)


AnyChannel: TypeAlias = Channel | BackgroundChannel
"""Those with a retention, which moments are made of."""
ColumnChannel: TypeAlias = AnyChannel | MatrixChannel


def expectation_together(channels: Sequence[AnyChannel], of: Any, axes: Sequence[int]) -> FloatArray:
    """E[g(y) | x] for g given along these axes, those of columns of one block: one lambda, replaced together.

    `channels[i]` is the matrix along axis i. (The counts of a cluster's joint codes are each rounded up to a
    whole word, so that its background is the product of its columns' to less than r / 2^b.)
    """
    kept, mean = float(channels[axes[0]].retention), of
    for axis in axes:
        mean = channels[axis].replaced(mean, axis)
    expected: FloatArray = kept * of + (1 - kept) * mean
    return expected
