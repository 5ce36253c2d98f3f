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
from budget_opt.estimators.counting import Counts
from budget_opt.estimators.errors_of_means import Covariances, covariances_of_means, require_rows


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
    for one in coefficients:
        if np.shape(one) != counts.rows.shape:
            raise InputError(
                f"coefficients: their shape is {np.shape(one)}, the table's {counts.rows.shape}. Give a "
                "number for every cell, an axis an attribute in the table's order."
            )
    a = np.stack([np.asarray(one, dtype=np.float64) for one in coefficients], axis=-1)
    if not np.all(np.isfinite(a)):
        raise InputError("coefficients: every one must be a finite number.")
    h, squares = (along_all(Channel.unbiased, channels, table) for table in (a, a**2))
    axes = len(channels)
    values, second, raw = (np.tensordot(counts.shares, table, axes) for table in (h, squares, a))
    covariances = covariances_of_means(h - values, counts, channels)
    return LinearFunctions(values, covariances, raw, second - values**2)


def require_counted(counts: Counts, channels: Sequence[Channel], least: int) -> None:
    """`InputError` for too few rows, and for channels that are not those of the table's axes."""
    require_rows(counts.n, f"the table of {' x '.join(counts.attributes)}", least)
    shape = tuple(channel.cardinality for channel in channels)
    if shape != counts.rows.shape:
        raise InputError(
            f"counts: the table has shape {counts.rows.shape}, its channels {shape}. Give a channel an axis."
        )
