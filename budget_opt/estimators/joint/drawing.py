"""Releases drawn again from an estimate: original tables, and their reports, as counts of cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.layout import layout_of
from budget_opt.tables.counting import IntArray


def drawn_originals(shares: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """The counts of n rows drawn independently with these shares, which add up to 1."""
    law = shares.reshape(-1) / shares.sum()
    return rng.multinomial(n, law).reshape(shares.shape).astype(np.int64)


def drawn_reports(originals: IntArray, channels: Sequence[Channel], rng: np.random.Generator) -> IntArray:
    """The counts of the reports of these rows, each attribute or cluster randomized independently.

    Along its axis every row stays with probability lambda, and the others are spread by the background,
    which is P = lambda I + (1 - lambda) 1 q^T for each row; it takes as long for 2^40 rows as for ten.
    """
    layout = layout_of(channels)
    table = layout.joined(originals)
    for axis, channel in enumerate(layout.blocks):
        kept = rng.binomial(table, channel.retention)
        moved = rng.multinomial((table - kept).sum(axis=axis), channel.background / channel.background.sum())
        table = kept + np.moveaxis(moved, -1, axis)
    return layout.apart(table)
