"""Which moments and blocks a figure shows when there are more than fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation
    from budget_opt.allocation.allocation import AllocatedMoment

LARGEST = 30
"""Rows of a figure."""


@dataclass(frozen=True)
class Chosen:
    """Positions of what is shown, in order, and of the others."""

    shown: tuple[int, ...]
    others: tuple[int, ...]


def chosen_moments(moments: Sequence[AllocatedMoment], largest: int = LARGEST) -> Chosen:
    """Those with a broken limit first, then those with a limit, then by weight."""
    return _chosen([_urgency(moment) for moment in moments], largest)


def chosen_blocks(allocation: Allocation, largest: int = LARGEST) -> Chosen:
    """Those with the most epsilon."""
    return _chosen([(-block.epsilon,) for block in allocation.blocks], largest)


def others_in_words(count: int, noun: str) -> str:
    """1,195 other moments."""
    return f"{count:,} other {noun}{'' if count == 1 else 's'}"


def order_in_words(order: int) -> str:
    """Moments of this many attributes."""
    return {1: "single attributes", 2: "pairs", 3: "triples"}.get(order, f"{order} attributes")


def _urgency(moment: AllocatedMoment) -> tuple[float, ...]:
    kept = moment.keeps_floor and moment.keeps_ceiling
    limited = moment.floor is not None or moment.ceiling is not None
    return float(kept), float(not limited), -moment.weight


def _chosen(urgency: Sequence[tuple[float, ...]], largest: int) -> Chosen:
    order = sorted(range(len(urgency)), key=urgency.__getitem__)
    if len(order) <= largest:
        return Chosen(tuple(range(len(order))), ())
    return Chosen(tuple(sorted(order[:largest])), tuple(sorted(order[largest:])))
