"""Regressions of tables that are given as joint counts, with any retentions, 1 included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.regression.opening import Opened, model_of
from budget_opt.estimators.regression.terms import Axis, columns_of
from budget_opt.estimators.releases.counting import Cells, Counts
from tests.estimators.release_model import FloatArray, IntArray

Retentions = Mapping[str, float]
Scores = Mapping[str, Sequence[float] | None]


def opened_of(
    formula: str,
    counts: IntArray | Counts,
    retentions: Retentions,
    scores: Scores,
    *,
    categories: bool = False,
    clusters: Mapping[str, str] | None = None,
) -> Opened:
    """The formula on a joint table whose axes are those of `retentions`, in their order.

    `clusters` names the cluster of the members of some.
    """
    model = model_of(formula, list(retentions), categories=categories)
    table = counts if isinstance(counts, Counts) else Counts(tuple(retentions), counts)
    axes = {}
    for name, r in zip(retentions, table.rows.shape, strict=True):
        given = scores.get(name, range(r))
        axes[name] = Axis(name, tuple(range(r)), None if given is None else np.array(given, dtype=float))
    channels = tuple(
        Channel(name, retentions[name], uniform(len(axes[name].labels)), cluster=(clusters or {}).get(name))
        for name in model.attributes
    )
    cells = table.marginal(*model.attributes).cells
    return Opened(formula, model, columns_of(model, axes, formula), axes, channels, cells, ())


def records_of(counts: IntArray) -> IntArray:
    """The codes of the rows of a joint table, a column an axis."""
    cells = np.array(list(np.ndindex(counts.shape)))
    return np.repeat(cells, counts.reshape(-1), axis=0)


def matrix_of(opened: Opened, codes: Mapping[str, IntArray]) -> FloatArray:
    """The columns of a regression for rows of codes."""
    rows = len(next(iter(codes.values())))
    matrix = np.ones((rows, len(opened.columns.columns)))
    for place, column in enumerate(opened.columns.columns):
        for name, values in column.functions.items():
            matrix[:, place] *= values[codes[name]]
    return matrix


def one_cell(codes: Sequence[int]) -> Cells:
    """One row of these codes, in the order of the channels."""
    return Cells(tuple(np.array([code]) for code in codes))
