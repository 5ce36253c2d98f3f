"""The unbiased joint table, and the errors of linear functions of its cells (RR-Ind-Joint).

Castell (2022) corrects a w-way table with the inverse of the Kronecker product of the randomization matrices
by one small inverse along each axis in turn (the reduced, incremental method). Here each of these is a closed
form, so that no matrix is formed: with d categories an axis the cost is O(w d^w), and the memory O(d^w).

A linear function sum a(x) pi(x) of the true shares is estimated by the mean of h(y), h = unbiased(a) along
every axis: its error is that of a mean, and no covariance matrix of cells is formed either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.intervals.errors_of_means import Covariances, covariances_of_means, require_rows
from budget_opt.estimators.releases.counting import Counts

LARGEST_COEFFICIENT = 1e100
"""Of a linear function, in size: errors are computed from squares."""


@dataclass(frozen=True)
class LinearFunctions:
    """k linear functions of the cells: `values` (k,), their `covariances` from both targets, and `raw`.

    `raw` (k,) is the same of the released shares. `spreads` (k,) estimates the variance of one unrandomized
    row, sum a^2 pi - value^2; it may be negative where the noise is large.
    """

    values: FloatArray
    covariances: Covariances
    raw: FloatArray
    spreads: FloatArray


def unbiased(counts: Counts, channels: Sequence[Channel]) -> FloatArray:
    """The unbiased share of every cell, an axis a channel; they add up to 1, and some may be negative.

    Raises `InputError` where there are no rows, and for channels that are not those of the table's axes.
    """
    require_counted(counts, channels, 1)
    return along_all(Channel.corrected, channels, counts.shares)


def linear(
    counts: Counts, channels: Sequence[Channel], coefficients: Sequence[FloatArray]
) -> LinearFunctions:
    """The functions sum a(x) pi(x), a table `a` of coefficients each, with their covariances.

    Raises `InputError` for fewer than two rows, for a table of another shape, and for no function.
    """
    require_counted(counts, channels, 2)
    if not coefficients:
        raise InputError("coefficients: none are given. Give a number for every cell of the table.")
    a = np.stack([_checked(one, counts.rows.shape) for one in coefficients], axis=-1)
    h, squares = (along_all(Channel.unbiased, channels, table) for table in (a, a**2))
    axes = len(channels)
    values, second, raw = (np.tensordot(counts.shares, table, axes) for table in (h, squares, a))
    covariances = covariances_of_means(h - values, counts, channels)
    return LinearFunctions(values, covariances, raw, second - values**2)


def _checked(coefficients: object, shape: tuple[int, ...]) -> FloatArray:
    """The numbers of all cells; `InputError` for another shape, and for what is no number or too large."""
    way_out = "Give a number for every cell, an axis an attribute in the table's order."
    try:
        given = np.asarray(coefficients)
        is_real = given.dtype.kind in "biufO"
        numbers = given.astype(np.float64) if is_real else np.empty(0)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"coefficients: are a {type(coefficients).__name__} that is no table of numbers. {way_out}"
        ) from None
    if not is_real:
        raise InputError(f"coefficients: are of numpy's type {given.dtype}, must be real numbers. {way_out}")
    if numbers.shape != shape:
        raise InputError(f"coefficients: their shape is {numbers.shape}, the table's {shape}. {way_out}")
    if not np.all(np.abs(numbers) <= LARGEST_COEFFICIENT):  # false for NaN too
        raise InputError(
            f"coefficients: some are not finite, or beyond {LARGEST_COEFFICIENT:g}, which squares to more "
            "than every double. Measure in another unit."
        )
    return numbers


def require_counted(counts: Counts, channels: Sequence[Channel], least: int) -> None:
    """`InputError` for too few rows, and for channels that are not those of the table's axes."""
    require_rows(counts, f"the table of {' x '.join(counts.attributes)}", least)
    shape = tuple(channel.cardinality for channel in channels)
    if shape != counts.rows.shape:
        raise InputError(
            f"counts: the table has shape {counts.rows.shape}, its channels {shape}. Give a channel an axis."
        )
