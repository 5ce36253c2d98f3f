"""What is remembered of the rows of one moment while they stream by, and the projection that is tested.

Few cells: the joint tables of the originals and of the reports, which add up over batches. Many cells:
the codes themselves, one to four bytes a cell of the moment's columns, for originals and reports alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import AnyCodes, IntArray, joint_counts
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.retentions import Projection

FloatArray = npt.NDArray[np.float64]

LARGEST_JOINT = 2**16
"""Cells up to which a moment is judged from joint tables (1 MB)."""
_BLOCK = 2**17


class JointTally:
    """The rows of one moment, batch by batch."""

    def __init__(self, channels: Sequence[Channel], *, largest: int = LARGEST_JOINT) -> None:
        self._channels = tuple(channels)
        shape = tuple(channel.cardinality for channel in channels)
        self._tables: list[IntArray] | None = None
        if math.prod(shape) <= largest:
            self._tables = [np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)]
        self._rows: tuple[list[list[AnyCodes]], list[list[AnyCodes]]] = ([], [])

    def add(self, original: Sequence[AnyCodes], released: Sequence[AnyCodes]) -> None:
        """Take one batch of rows, a column for each attribute of the moment."""
        for side, columns in enumerate((original, released)):
            if self._tables is None:
                self._rows[side].append([column.copy() for column in columns])
            else:
                self._tables[side] += joint_counts(columns, self._tables[side].shape)

    def projection(self) -> Projection:
        """The function of `retentions` for the rows taken, at least one."""
        if self._tables is not None:
            return project_tables(self._channels, *self._tables)
        original, released = (
            [np.concatenate(parts) for parts in zip(*side, strict=True)] for side in self._rows
        )
        return project_rows(self._channels, original, released)


def project_tables(channels: Sequence[Channel], original: IntArray, released: IntArray) -> Projection:
    """From joint tables of counts; nominal attributes by the direction of the data's own table."""
    n = int(original.sum())
    shares, axes = original / n, range(original.ndim)
    functions = [np.eye(c.cardinality) if c.scores is None else c.scores[None, :] for c in channels]
    marginals = [shares.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    own_functions, centred = _centred(channels, functions, marginals)
    own = _contracted(own_functions, shares)
    size = float(np.sqrt(np.sum(own**2)))
    direction = own / size if own.size > 1 and size > 0 else np.ones(own.shape)
    g = _contracted([function.T for function in centred], direction)
    expected, square = g, g**2
    for axis, channel in enumerate(channels):
        expected, square = channel.expectation(expected, axis), channel.expectation(square, axis)
    nominal = any(channel.scores is None for channel in channels)
    return Projection(
        basis="the data's own table" if nominal else "declared scores",
        n=n,
        data=float(np.sum(own * direction)),
        observed=float(np.sum(g * released)) / n,
        predicted=float(np.sum(expected * shares)),
        variance=float(np.sum((square - expected**2) * shares)),
        width=float(g.max() - g.min()),
    )


def project_rows(
    channels: Sequence[Channel], original: Sequence[AnyCodes], released: Sequence[AnyCodes]
) -> Projection:
    """From the codes; nominal attributes by the numbers of their categories, any scores being sound."""
    n = original[0].size
    functions = [
        (np.arange(c.cardinality, dtype=np.float64) if c.scores is None else c.scores)[None, :]
        for c in channels
    ]
    marginals = [
        np.bincount(column, minlength=c.cardinality) / n for c, column in zip(channels, original, strict=True)
    ]
    own, centred = ([table[0] for table in side] for side in _centred(channels, functions, marginals))
    expected = [channel.expectation(g) for channel, g in zip(channels, centred, strict=True)]
    square = [channel.expectation(g**2) for channel, g in zip(channels, centred, strict=True)]
    nominal = any(channel.scores is None for channel in channels)
    return Projection(
        basis="category numbers" if nominal else "declared scores",
        n=n,
        data=_mean_product(own, original),
        observed=_mean_product(centred, released),
        predicted=_mean_product(expected, original),
        variance=_mean_product(square, original) - _mean_product([e**2 for e in expected], original),
        width=_width(centred),
    )


def _centred(
    channels: Sequence[Channel], functions: Sequence[FloatArray], marginals: Sequence[FloatArray]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """The functions minus their means over the originals, and minus their expected means over the reports."""
    own, centred = [], []
    for channel, function, marginal in zip(channels, functions, marginals, strict=True):
        mean = function @ marginal
        expected = channel.expectation(function, axis=1) @ marginal
        if len(channels) == 1:
            mean = expected = function.mean(axis=1)
        own.append(function - mean[:, None])
        centred.append(function - expected[:, None])
    return own, centred


def _contracted(functions: Sequence[FloatArray], table: FloatArray) -> FloatArray:
    """Each axis of the table replaced by its image under a function, shape (images, categories)."""
    for axis, function in enumerate(functions):
        table = np.moveaxis(np.tensordot(function, table, axes=(1, axis)), 0, axis)
    return table


def _mean_product(functions: Sequence[FloatArray], columns: Sequence[AnyCodes]) -> float:
    """The mean over the rows of the product of the columns' functions."""
    n, total = columns[0].size, 0.0
    for start in range(0, n, _BLOCK):
        product = np.ones(min(_BLOCK, n - start))
        for function, column in zip(functions, columns, strict=True):
            product *= function[column[start : start + _BLOCK]]
        total += float(product.sum())
    return total / n


def _width(functions: Sequence[FloatArray]) -> float:
    """The range of the product over all combinations of categories."""
    low = high = 1.0
    for function in functions:
        ends = [end * float(f) for end in (low, high) for f in (function.min(), function.max())]
        low, high = min(ends), max(ends)
    return high - low
