"""What is remembered of the rows of one moment while they stream by, and the projection that is tested.

Few cells: the joint tables of the originals and of the reports, which add up over batches. Many cells:
sums over the rows of functions that are centred at the means of the first 2^16 rows. The argument of
`retentions` holds for any centres of the data, with those of the reports their image under the matrix:
the retention is R exactly about them too.

Columns of one cluster are replaced together: E[g | x] = lambda g(x) + (1 - lambda) mean g over all their
combinations, and the mean of a product of functions of one column each is the product of their means. So the
expectation of a moment with several members of a cluster is that of DESIGN 2.9, exactly, given the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import AnyCodes, IntArray, joint_counts
from budget_opt.verifier.channels import AnyChannel, expectation_together
from budget_opt.verifier.noise.blocks import Block, Blocks
from budget_opt.verifier.retentions import Projection

FloatArray = npt.NDArray[np.float64]

LARGEST_JOINT = 2**16
"""Cells up to which a moment is judged from joint tables (1 MB)."""


class JointTally:
    """The rows of one moment, batch by batch."""

    def __init__(self, channels: Sequence[AnyChannel], *, largest: int = LARGEST_JOINT) -> None:
        self._channels = tuple(channels)
        shape = tuple(channel.cardinality for channel in channels)
        self._tables: list[IntArray] | None = None
        self._sums = RowSums(channels)
        if math.prod(shape) <= largest:
            self._tables = [np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)]

    def add(self, original: Sequence[AnyCodes], released: Sequence[AnyCodes]) -> None:
        """Take one batch of rows, a column for each attribute of the moment."""
        if self._tables is None:
            self._sums.add(original, released)
        else:
            for table, columns in zip(self._tables, (original, released), strict=True):
                np.add(table, joint_counts(columns, table.shape), out=table)

    def projection(self) -> Projection:
        """The function of `retentions` for the rows taken, at least one."""
        if self._tables is None:
            return self._sums.projection()
        return project_tables(self._channels, *self._tables)


def project_tables(channels: Sequence[AnyChannel], original: IntArray, released: IntArray) -> Projection:
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
    for together in by_block(channels):
        expected, square = (expectation_together(channels, one, together) for one in (expected, square))
    nominal = any(channel.scores is None for channel in channels)
    return Projection(
        basis="the data's own table" if nominal else "the scores",
        n=n,
        data=float(np.sum(own * direction)),
        observed=float(np.sum(g * released)) / n,
        predicted=float(np.sum(expected * shares)),
        variance=float(np.sum((square - expected**2) * shares)),
        width=float(g.max() - g.min()),
    )


class RowSums:
    """A moment of many cells; nominal attributes by their category numbers, as any scores are sound."""

    def __init__(self, channels: Sequence[AnyChannel]) -> None:
        self._channels = tuple(channels)
        self._blocks = Blocks([channel.even for channel in channels])
        self._n = 0
        self._own: list[FloatArray] = []
        self._functions: list[FloatArray] = []
        # over the rows: of the originals, of the reports, E[g | x], E[g^2 | x], E[g | x]^2
        self._sums = np.zeros(5)

    def add(self, original: Sequence[AnyCodes], released: Sequence[AnyCodes]) -> None:
        """Take one batch of rows, a column for each attribute of the moment."""
        for block in self._blocks.of(original, released):
            self._take(block)

    def projection(self) -> Projection:
        """The function of `retentions` for all rows taken, at least one; no row may come after."""
        for block in self._blocks.rest():
            self._take(block)
        data, observed, predicted, square, squared = self._sums / self._n
        nominal = any(channel.scores is None for channel in self._channels)
        return Projection(
            basis="category numbers" if nominal else "the scores",
            n=self._n,
            data=data,
            observed=observed,
            predicted=predicted,
            variance=square - squared,
            width=_width(self._functions),
        )

    def _take(self, block: Block) -> None:
        if not self._n:
            self._own, self._functions = _centred_at(self._channels, block.truths)
        expected = self._expected(self._functions, block)
        self._sums += (
            np.sum(_products(self._own, block.truths)),
            np.sum(_products(self._functions, block.reports)),
            np.sum(expected),
            np.sum(self._expected([g**2 for g in self._functions], block)),
            np.sum(expected**2),
        )
        self._n += block.rows

    def _expected(self, functions: Sequence[FloatArray], block: Block) -> FloatArray:
        """E[prod g(y) | x] of every row."""
        expected = np.ones(block.rows)
        for axes in by_block(self._channels):
            kept = float(self._channels[axes[0]].retention)
            own, truths = [functions[axis] for axis in axes], [block.truths[axis] for axis in axes]
            noise = math.prod(
                float(self._channels[axis].replaced(g)[0]) for axis, g in zip(axes, own, strict=True)
            )
            expected *= kept * _products(own, truths) + (1 - kept) * noise
        return expected


def _centred_at(
    channels: Sequence[AnyChannel], columns: Sequence[AnyCodes]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """The functions of the data and of the reports, centred at the means of these originals."""
    functions = [
        (np.arange(c.cardinality, dtype=np.float64) if c.scores is None else c.scores)[None, :]
        for c in channels
    ]
    marginals = [
        np.bincount(column, minlength=c.cardinality) / column.size
        for c, column in zip(channels, columns, strict=True)
    ]
    own, centred = ([table[0] for table in side] for side in _centred(channels, functions, marginals))
    return own, centred


def _centred(
    channels: Sequence[AnyChannel], functions: Sequence[FloatArray], marginals: Sequence[FloatArray]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """The functions minus their means over the originals, and minus their expected means over the reports."""
    own, centred = [], []
    for channel, function, marginal in zip(channels, functions, marginals, strict=True):
        mean = function @ marginal
        expected = channel.expectation(function, axis=1) @ marginal
        if len(channels) == 1:
            mean = expected = channel.replaced(function, axis=1)[:, 0]
        own.append(function - mean[:, None])
        centred.append(function - expected[:, None])
    return own, centred


def _contracted(functions: Sequence[FloatArray], table: FloatArray) -> FloatArray:
    """Each axis of the table replaced by its image under a function, shape (images, categories)."""
    for axis, function in enumerate(functions):
        table = np.moveaxis(np.tensordot(function, table, axes=(1, axis)), 0, axis)
    return table


def by_block(channels: Sequence[AnyChannel]) -> list[tuple[int, ...]]:
    """The numbers of those channels that are of one block, for every block."""
    axes: dict[str, tuple[int, ...]] = {}
    for axis, channel in enumerate(channels):
        axes[channel.block] = (*axes.get(channel.block, ()), axis)
    return list(axes.values())


def _products(functions: Sequence[FloatArray], columns: Sequence[AnyCodes]) -> FloatArray:
    """The product of the columns' functions, of every row."""
    product = np.ones(columns[0].size)
    for function, column in zip(functions, columns, strict=True):
        product *= function[column]
    return product


def _width(functions: Sequence[FloatArray]) -> float:
    """The range of the product over all combinations of categories."""
    low = high = 1.0
    for function in functions:
        ends = [end * float(f) for end in (low, high) for f in (function.min(), function.max())]
        low, high = min(ends), max(ends)
    return high - low
