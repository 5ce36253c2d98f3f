"""Rows as the cells of their joint table, where that is the smaller of both."""

from __future__ import annotations

import math
from collections.abc import Sequence

from budget_opt.estimators.channels import Channel
from budget_opt.estimators.releases.counting import LARGEST_TABLE, Cells, counts_of


def compacted(cells: Cells, channels: Sequence[Channel]) -> Cells:
    """The same rows, counted into their joint table where it is small; every weighted sum stays the same."""
    shape = [channel.cardinality for channel in channels]
    if math.prod(shape) > min(LARGEST_TABLE, cells.codes[0].size):
        return cells
    return counts_of(cells, [channel.name for channel in channels], shape).cells
