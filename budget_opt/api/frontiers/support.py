"""Where the best split begins or ceases to give an attribute any epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from budget_opt.allocation import Allocation
from budget_opt.api.frontiers.frontier import FrontierPoint, SupportChange


def support_changes(points: Sequence[FrontierPoint]) -> tuple[SupportChange, ...]:
    """The changes between neighbours among the points that have a split, in the order of the axis."""
    solved = [(point.at, supported(point.allocation)) for point in points if point.allocation is not None]
    changes = []
    for (after, ahead), (before, behind) in pairwise(solved):
        gained = tuple(name for name in behind if name not in ahead)
        lost = tuple(name for name in ahead if name not in behind)
        if gained or lost:
            changes.append(SupportChange(after, before, gained, lost))
    return tuple(changes)


def supported(allocation: Allocation) -> tuple[str, ...]:
    """Names of the attributes and clusters with an epsilon above 0."""
    return tuple(block.name for block in allocation.blocks if block.epsilon > 0)
