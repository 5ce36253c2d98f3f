"""Whether a table can be a release under an allocation: its columns, and the shares of its categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from budget_opt.allocation.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedAttribute
from budget_opt.allocation.columns import other_columns
from budget_opt.errors import DataError
from budget_opt.estimators.channels import Channel
from budget_opt.estimators.layout import layout_of
from budget_opt.estimators.releases.counting import Cells, Counts
from budget_opt.tables.binomial import least_of_possible
from budget_opt.tables.joint_shares import least_share
from budget_opt.tables.source import Source, listed, require_columns

FALSE_ALARM = 1e-9
"""Largest probability with which a sound release is refused because of its shares and joint tables."""
LARGEST_JUDGED = 10**4
"""Cells up to which a joint table is judged: in a larger one hardly any release is impossible."""


def require_released_columns(allocation: Allocation, table: Source) -> None:
    """`DataError` unless the table has the columns of a release under the allocation, and no other."""
    other = other_columns(allocation, table.names)
    if other.absent and not set(table.names) & {one.name for one in allocation.attributes}:
        require_columns(other.absent, table)  # it may be a file without a header line, which this says
    if other.absent:
        raise DataError(
            f"{table.title}: has no column {listed(other.absent)}, which a release under this allocation "
            "has. Give the released table whole; is this its allocation?",
            column=other.absent[0],
        )
    dropped = [name for name in other.more if name in allocation.dropped]
    if dropped:
        raise DataError(
            f"{table.title}: has the columns {listed(dropped)}, which the allocation drops. Is this the "
            "released table, and not the original?",
            column=dropped[0],
        )
    if other.more:
        raise DataError(
            f"{table.title}: has the columns {listed(other.more)}, which are not of the release, so it may "
            "not be of this allocation. If you added them, select the released ones first: "
            "table[list(allocation.released)].",
            column=other.more[0],
        )


def require_possible_shares(
    attributes: Mapping[str, AllocatedAttribute], cells: Cells, places: Sequence[str]
) -> None:
    """`DataError` where no originals can have led to these reports: the originals themselves, say.

    Whatever the truth, each category is reported with a probability from that of a wrong report to that of a
    true one; rows are judged without survey weights, by exact tails of the binomial distribution. Over all
    columns a release is refused wrongly with probability at most half of `FALSE_ALARM`.
    """
    codes = dict(zip(places, cells.codes, strict=True))
    for name, one in attributes.items():
        counts = np.bincount(codes[name], cells.rows, minlength=one.cardinality)
        chance = least_of_possible(counts, *one.reported_between)
        if chance <= FALSE_ALARM / 2 / len(attributes):
            raise DataError(
                f"column {name!r}: the shares of its categories are impossible after this randomization, "
                f"whatever the original values (chance at most {FALSE_ALARM:g}). Is this the released table, "
                "and is this its allocation?",
                column=name,
            )


def require_possible_table(counts: Counts, channels: Sequence[Channel], columns: int) -> None:
    """`DataError` where no originals can have led to this joint table of some of so many `columns`.

    Over all tables of the same rows and columns, whatever their order, a release is refused wrongly with
    probability at most half of `FALSE_ALARM`: each number of axes, and each choice of them, has a like part.
    """
    axes = len(channels)
    if axes == 1 or counts.rows.size > LARGEST_JUDGED:
        return
    layout = layout_of(channels)
    kept = [((1 - one.retention) * one.background, one.retention) for one in layout.blocks]
    alarm = FALSE_ALARM / 2 / (columns * math.comb(columns, axes))
    if not least_share(layout.joined(counts.rows), kept, alarm).is_possible:
        raise DataError(
            f"the joint table of {' x '.join(counts.attributes)}: is impossible after this randomization, "
            f"whatever the original values (chance at most {FALSE_ALARM:g}). Is this the released table, "
            "every row once and as it was released, and is this its allocation?",
            column=counts.attributes[0],
        )
