"""Estimated tables as rows, one a cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import normal_quantile

if TYPE_CHECKING:
    from budget_opt.estimators.joint.table import TableEstimate


def cell_rows(table: TableEstimate, level: float) -> list[dict[str, Any]]:
    """One row a cell, in the order of the categories: labels, numbers, and what is odd about it."""
    normal_quantile(level)
    low, high = (None, None) if table.errors is None else table.errors.interval(level)
    oddities = cell_oddities(table)
    columns = {
        "share": _listed(table.shares),
        "standard_error": _listed(table.standard_errors, table.shares.size),
        "low": _listed(low, table.shares.size),
        "high": _listed(high, table.shares.size),
        "raw": _listed(table.raw),
        "effective_n": [None if math.isnan(rows) else rows for rows in cell_effective(table).tolist()],
        "note": [note_of(oddities, place) for place in range(table.shares.size)],
    }
    titles = [_apart(name, table.attributes) for name in columns]
    numbers = zip(*columns.values(), strict=True)
    return [
        dict(zip(table.attributes, labels, strict=True)) | dict(zip(titles, values, strict=True))
        for labels, values in zip(product(*table.labels), numbers, strict=True)
    ]


def cell_effective(table: TableEstimate) -> FloatArray:
    """How many unrandomized rows would give each cell's error from the population: p (1 - p) / Var p.

    A number a cell, in order; NaN where the target is the data, and where p is not within 0 and 1.
    """
    unknown = np.full(table.shares.size, np.nan)
    if table.errors is None or table.target != "population":
        return unknown
    shares, variances = table.shares.reshape(-1), table.errors.standard_errors.reshape(-1) ** 2
    inside = (shares > 0) & (shares < 1) & (variances > 0)
    rows: FloatArray = np.divide(shares * (1 - shares), variances, out=unknown, where=inside)
    return rows


def cell_oddities(table: TableEstimate) -> dict[str, npt.NDArray[np.bool_]]:
    """What may be odd about a cell, and about which it is, in order."""
    negative = table.shares.reshape(-1) < 0
    few = np.zeros_like(negative) if table.errors is None else table.errors.few.reshape(-1)
    return {"negative": negative, "few events": few}


def note_of(oddities: Mapping[str, npt.NDArray[np.bool_]], place: int) -> str:
    """What is odd about one cell; empty where nothing is."""
    return ", ".join(text for text, holds in oddities.items() if holds[place])


def _listed(values: FloatArray | None, size: int = 0) -> list[Any]:
    return [None] * size if values is None else values.reshape(-1).tolist()


def _apart(title: str, attributes: Sequence[str]) -> str:
    """The title of a column, told apart from an attribute of the same name."""
    while title in attributes:
        title = f"estimated {title}"
    return title
