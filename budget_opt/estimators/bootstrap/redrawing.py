"""A table drawn again: rows from the rows, or new reports from an estimate of the originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.joint.likelihood import maximum_likelihood
from budget_opt.estimators.layout import layout_of
from budget_opt.estimators.releases.counting import Cells, Counts
from budget_opt.tables.counting import IntArray


def resampled_rows(cells: Cells, rng: np.random.Generator) -> Cells:
    """As many rows, drawn from the rows with replacement; a row keeps its survey weight."""
    if cells.rows is None:
        size = cells.codes[0].size
        times = np.bincount(rng.integers(0, size, size), minlength=size).astype(np.int64)
    elif cells.weights is None:
        return replace(cells, rows=rng.multinomial(cells.n, cells.rows / cells.n).astype(np.int64))
    else:
        raise InputError(
            "bootstrap: counts with survey weights do not say which rows had which weight. Give the released "
            "table itself, or use the standard error by formula."
        )
    if cells.weights is None or cells.squares is None:
        return replace(cells, rows=times)
    return replace(cells, rows=times, weights=times * cells.weights, squares=times * cells.squares)


def redrawn_reports(truths: IntArray, channels: Sequence[Channel], rng: np.random.Generator) -> IntArray:
    """Reports of a table of truths, of the same shape: each record is randomized along every axis.

    Members of one cluster are randomized together.
    """
    layout = layout_of(channels)
    table = layout.joined(truths)
    for axis, channel in enumerate(layout.blocks):
        if channel.retention < 1:
            along = np.moveaxis(table, axis, -1)
            kept = rng.binomial(along, channel.retention)
            lost = (along - kept).sum(axis=-1)
            table = np.moveaxis(kept + rng.multinomial(lost, channel.background), -1, axis)
    return layout.apart(table)


def plausible_truths(counts: Counts, channels: Sequence[Channel]) -> IntArray:
    """Whole numbers of originals that could have given these reports: those of maximum likelihood."""
    return _whole(counts.n * maximum_likelihood(counts.shares, channels).shares, counts.n)


def _whole(table: FloatArray, n: int) -> IntArray:
    """Rounded to whole numbers that add up to n: down, and the largest remainders up."""
    floor = np.floor(table).astype(np.int64)
    missing = n - int(floor.sum())
    flat = floor.reshape(-1)
    order = np.argsort((table - floor).reshape(-1))[::-1]
    # beyond 2^53 rows doubles do not add up to n: all cells share what is missing
    flat += missing // flat.size
    flat[order[: missing % flat.size]] += 1
    return floor
