"""A corrected table with the covariances of its cells, as far as derived statistics need them (Wang 2016).

Letters: t = W1 / sum W1 the shares of the reports, t2 = W2 / (sum W1)^2 (t / n without survey weights), pi
the corrected cells, h_x(y) = prod Pinv[y, x] the number whose mean over the rows is pi_x. Cells A and B of
the table or of its margins (indicators of truths, h_A the products of h over the attributes they name) have

    population  Cov = n/(n-1) sum t2 (h_A - pi_A)(h_B - pi_B)      rows are a sample, reports are random
    data        Cov = sum t2 (h_A h_B - h_{A and B})               only the reports are random

both without bias. An attribute named in A and in B asks for `Channel.squared`, one named in one of them for
`Channel.corrected`, one in none for the sum: no covariance matrix is formed. (Of a cluster A and B may name
different members: `_products_of`.) Every array may have further
axes at its end, one table a place: a simulation of 10,000 releases is one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all, axes_of_blocks
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.errors_of_means import is_randomized
from budget_opt.estimators.joint.cell_errors import least_variances
from budget_opt.estimators.releases.counting import Counts


@dataclass(frozen=True)
class CorrectedTable:
    """Reports as shares, axis m that of `channels[m]`, and what the corrected cells err by.

    `shares` t and `squares` t2 as in the module's text, further axes for several tables; `n` rows.
    """

    channels: tuple[Channel, ...]
    shares: FloatArray
    squares: FloatArray
    n: int
    target: Target

    @property
    def axes(self) -> tuple[int, ...]:
        """The places of the attributes."""
        return tuple(range(len(self.channels)))

    @cached_property
    def cells(self) -> FloatArray:
        """pi, the unbiased shares of the original table; some may be negative, they add up to 1."""
        return along_all(Channel.corrected, self.channels, self.shares)

    @cached_property
    def corrected_squares(self) -> FloatArray:
        """t2 corrected along every axis."""
        return along_all(Channel.corrected, self.channels, self.squares)

    @cached_property
    def variances(self) -> FloatArray:
        """The variance of every corrected cell, at least the least that it can be for any table."""
        second = along_all(Channel.squared, self.channels, self.squares)
        least = self._least_of_a_row * self.squares.sum(axis=self.axes, keepdims=True)
        data = self.target == "data"
        found = second - self.corrected_squares if data else self.centred(second, self, self)
        variances: FloatArray = np.maximum(found, least)
        return variances

    @property
    def _least_of_a_row(self) -> FloatArray:
        """The least variance of h of every cell given any truth; 0 without randomization."""
        several = [channel for channel in self.channels if channel.cardinality > 1]
        shape = self.shares.shape[: len(self.channels)] + (1,) * (self.shares.ndim - len(self.channels))
        return least_variances(several).reshape(shape) if several else np.zeros(shape)

    @property
    def errors(self) -> FloatArray:
        """The standard error of every corrected cell."""
        errors: FloatArray = np.sqrt(self.variances)
        return errors

    def margin(self, *kept: int) -> CorrectedTable:
        """The table of these attributes alone; the axes of the others stay with length 1."""
        gone = tuple(axis for axis in self.axes if axis not in kept)
        channels = tuple(
            Channel(channel.name, 1.0, np.ones(1)) if axis in gone else channel
            for axis, channel in enumerate(self.channels)
        )
        shares, squares = (table.sum(axis=gone, keepdims=True) for table in (self.shares, self.squares))
        return CorrectedTable(channels, shares, squares, self.n, self.target)

    def covariances(self, first: Sequence[int], second: Sequence[int]) -> FloatArray:
        """Cov of the cell of the attributes `first` and that of `second`, for every cell of both together."""
        table = self.squares
        for axes in axes_of_blocks(self.channels):
            one, other = ([axis for axis in axes if axis in named] for named in (first, second))
            table = _products_of(table, self.channels, axes, (one, other))
        if self.target == "data":
            return table - self.margin(*first, *second).corrected_squares
        return self.centred(table, self.margin(*first), self.margin(*second))

    def centred(self, products: FloatArray, one: CorrectedTable, other: CorrectedTable) -> FloatArray:
        """Of sums of t2 h_A h_B the covariances for the population, A of the margin `one`, B of `other`."""
        whole = self.squares.sum(axis=self.axes, keepdims=True)
        crossed = one.cells * other.corrected_squares + other.cells * one.corrected_squares
        covariances: FloatArray = products - crossed + whole * one.cells * other.cells
        return covariances * (self.n / (self.n - 1))

    def variance_of(self, gradient: FloatArray) -> FloatArray:
        """The variance of sum a(x) pi(x), for numbers a of the shape of the cells.

        It is at least that of the reports of one truth alone, whichever has the least: of few rows all h may
        be equal by chance, which makes nothing certain.
        """
        h = along_all(Channel.unbiased, self.channels, gradient)
        of_a_truth = along_all(Channel.expected, self.channels, h * h) - gradient * gradient
        least: FloatArray = of_a_truth.min(axis=self.axes) * self.squares.sum(axis=self.axes)
        if not is_randomized(self.channels):  # 0 but for rounding
            least = np.zeros_like(least)
        variance: FloatArray
        if self.target == "data":
            own = along_all(Channel.unbiased, self.channels, gradient * gradient)
            variance = (self.squares * (h * h - own)).sum(axis=self.axes)
        else:
            mean = (self.shares * h).sum(axis=self.axes, keepdims=True)
            spread = (self.squares * (h - mean) ** 2).sum(axis=self.axes)
            variance = spread * (self.n / (self.n - 1))
        return np.maximum(variance, np.maximum(least, 0.0))


def _products_of(
    table: FloatArray,
    channels: Sequence[Channel],
    axes: Sequence[int],
    named: tuple[Sequence[int], Sequence[int]],
) -> FloatArray:
    """sum_y t(y) h_A(y) h_B(y) along the axes of one block, of which A and B name some each.

    With h_A = (1{y agrees with A} - u_A) / lambda, u_A = (1 - lambda) q_A, and t_A the sums of t over all
    axes but those of A: (t_AB - u_A t_B - u_B t_A + u_A u_B t_0) / lambda^2 where both name some, which is
    `Channel.squared` where they name the same.
    """

    def summed(kept: Sequence[int]) -> FloatArray:
        sums: FloatArray = table.sum(axis=tuple(axis for axis in axes if axis not in kept), keepdims=True)
        return sums

    def lost(kept: Sequence[int]) -> FloatArray:
        law = np.full((1,) * table.ndim, 1 - channels[axes[0]].retention)
        for axis in kept:
            law = law * channels[axis].background.reshape([-1 if m == axis else 1 for m in range(table.ndim)])
        return law

    first, second = named
    kept = channels[axes[0]].retention
    both = summed([*first, *second])
    if not first and not second:
        return both
    if not first or not second:
        return (both - lost([*first, *second]) * summed([])) / kept
    crossed = lost(first) * summed(second) + lost(second) * summed(first)
    return (both - crossed + lost(first) * lost(second) * summed([])) / kept**2


def corrected_table(counts: Counts, channels: Sequence[Channel], target: Target) -> CorrectedTable:
    """The corrected table of released counts; `InputError` for fewer than two rows."""
    if counts.n < 2:
        raise InputError(f"the release: has {counts.n} rows, the error of a statistic needs at least 2.")
    total = float(counts.first.sum())
    return CorrectedTable(tuple(channels), counts.first / total, counts.second / total**2, counts.n, target)
