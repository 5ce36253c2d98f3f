"""The cells of outcome and covariates, true and reported, that a logistic regression is fitted on.

Axes of every table: the randomized covariates, the outcome (category 0, 1), and the combinations of public
columns that occur in the rows. Public columns are as they were, so that nothing mixes along the last axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.regression.features import Functions
from budget_opt.estimators.regression.opening import Opened
from budget_opt.tables.counting import AnyCodes

MOST_CELLS = 2_000_000
"""True cells of outcome and covariates, those of public columns counted as they occur."""
_DOUBLES = 100_000_000


@dataclass(frozen=True)
class Grid:
    """`first` and `second` are W1 and W2 of the reports, shape (r_1, ..., r_k, 2, G); W1 adds up to 1.

    `design` has the columns for each true cell of the covariates, shape (r_1, ..., r_k, G, p), and
    `channels` are those of the k covariates and the outcome. `total` is sum w, `n` the number of rows.
    """

    channels: tuple[Channel, ...]
    design: FloatArray
    first: FloatArray
    second: FloatArray
    total: float
    n: int

    @property
    def covariates(self) -> tuple[Channel, ...]:
        """The channels of the randomized covariates."""
        return self.channels[:-1]

    @property
    def patterns(self) -> int:
        """Cells of the randomized covariates."""
        return math.prod(channel.cardinality for channel in self.covariates)


def grid_of(opened: Opened, functions: Sequence[Functions], outcome: npt.NDArray[np.intp]) -> Grid:
    """The grid of a regression on `functions`; `outcome` gives 0 or 1 for each category of the outcome.

    Raises `InputError` where it has more than `MOST_CELLS` cells.
    """
    name = opened.outcome.name
    places = {channel.name: place for place, channel in enumerate(opened.channels)}
    covariates = [one for one in opened.channels if one.name != name and one.retention < 1]
    public = [one for one in opened.channels if one.name != name and one.retention == 1]
    codes = opened.cells.codes
    combination, values = _combinations([codes[places[one.name]] for one in public], codes[0].size)
    shape = (*(one.cardinality for one in covariates), 2, values.shape[0])
    _require_small(shape, len(functions), opened.formula)
    index = [codes[places[one.name]].astype(np.intp) for one in covariates]
    index += [outcome[codes[places[name]]], combination]
    flat = np.ravel_multi_index(tuple(index), shape)
    cells = opened.cells
    once = np.ones(codes[0].size) if cells.rows is None else cells.rows.astype(np.float64)
    first, second = (once if part is None else part for part in (cells.weights, cells.squares))
    size = math.prod(shape)
    reported = opened.channels[places[name]]
    swapped = replace(reported, background=reported.background[np.argsort(outcome)])
    return Grid(
        channels=(*covariates, swapped),
        design=_design(functions, covariates, public, values),
        first=np.bincount(flat, first, size).reshape(shape) / cells.total,
        second=np.bincount(flat, second, size).reshape(shape),
        total=cells.total,
        n=cells.n,
    )


def _combinations(
    columns: Sequence[AnyCodes], rows: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The number of the combination of these codes in every row, and the codes of each, (G, columns)."""
    if not columns:
        return np.zeros(rows, dtype=np.intp), np.zeros((1, 0), dtype=np.intp)
    stacked = np.stack([column.astype(np.intp) for column in columns], axis=1)
    values, number = np.unique(stacked, axis=0, return_inverse=True)
    return number.reshape(-1), values


def _design(
    functions: Sequence[Functions],
    covariates: Sequence[Channel],
    public: Sequence[Channel],
    values: npt.NDArray[np.intp],
) -> FloatArray:
    shape = (*(one.cardinality for one in covariates), values.shape[0])
    design = np.ones((*shape, len(functions)))
    for place, column in enumerate(functions):
        for axis, channel in enumerate(covariates):
            if channel.name in column:
                along = [1] * len(shape)
                along[axis] = -1
                design[..., place] *= column[channel.name].reshape(along)
        for axis, channel in enumerate(public):
            if channel.name in column:
                design[..., place] *= column[channel.name][values[:, axis]]
    return design


def _require_small(shape: Sequence[int], columns: int, formula: str) -> None:
    size, patterns = math.prod(shape), math.prod(shape[:-2])
    if size > MOST_CELLS or size * max(columns, patterns) > _DOUBLES:
        raise InputError(
            f"formula: {formula!r} has {size:,} true cells of outcome and covariates, {patterns:,} of them "
            f"of randomized covariates alone; at most {MOST_CELLS:,} can be fitted, and {_DOUBLES:,} of "
            "cells times columns and of cells times randomized cells. Use fewer or coarser covariates, or "
            'family="linear", which has no such limit.'
        )
