"""lambda against epsilon (Ruiz 2026, figure 1), and where the attributes of a split stand on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.mechanisms.randomized_response import retention
from budget_opt.plots.names import distinct, label
from budget_opt.plots.side_labels import Labelled, room, side_labels
from budget_opt.plots.style import COLOURS, DARK, DASHES, axes, axis_words, finished, legend_above, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.allocation import AllocatedBlock, Allocation

CARDINALITIES = (2, 3, 5, 10)
MOST_CURVES = len(DASHES)
LABEL_WIDTH = 22
SAME_PLACE = 0.002
"""A share of the axis of epsilon; points of a curve that are nearer cannot be told apart."""
MOST_NAMED = 4
"""Attributes at one place that are each named."""


def retention_curves(
    cardinalities: Sequence[float] | None = None,
    largest: float | None = None,
    ax: Axes | None = None,
    allocation: Allocation | None = None,
) -> Axes:
    """Retention against epsilon (nats, 0 to `largest`), one curve a number of categories r.

    The attributes and clusters of an `allocation` are points with their names, on curves of their own
    cardinalities (the effective ones, where a background is not uniform) unless others are asked for; those
    that are not released share a label, and so do many at one place. Where they are too many for labels,
    those with the most epsilon have one.
    """
    ax = axes(ax, width=6.4 if allocation is None else 7.6, height=4.2)
    if cardinalities is None:
        cardinalities = CARDINALITIES if allocation is None else _cardinalities(allocation)
    largest = largest or (10.0 if allocation is None else _largest(allocation))
    epsilon = np.linspace(0.0, largest, 401)
    for i, r in enumerate(cardinalities):
        ax.plot(
            epsilon,
            retention(epsilon, r),
            color=COLOURS[i % len(COLOURS)],
            linestyle=DASHES[i % len(DASHES)],
            linewidth=1.6,
            label=f"{_told(r)} categories" if i == 0 else _told(r),
        )
    highest = float(retention(largest, min(cardinalities)))
    ax.set(ylim=(0, 1 if allocation is None else min(1.0, math.ceil(10 * highest) / 10)), xlim=(0, largest))
    axis_words(ax, "epsilon of the attribute (nats)", "retention lambda")
    legend_above(ax, columns=6)
    quiet(ax)
    if allocation is not None:
        _draw_blocks(ax, allocation)
    return finished(ax)


def _draw_blocks(ax: Axes, allocation: Allocation) -> None:
    blocks = [block for block in allocation.blocks if block.has_retention]
    epsilons = [block.epsilon for block in blocks]
    kept = [block.retention for block in blocks]
    style: dict[str, Any] = {"s": 26, "facecolor": "white", "edgecolor": DARK, "zorder": 4, "clip_on": False}
    ax.scatter(epsilons, kept, **style)
    groups = _labelled_together(blocks, SAME_PLACE * ax.get_xlim()[1])[: room(ax)]
    labels = distinct(_label(group) for group in groups)
    side_labels(
        ax,
        [
            Labelled(group[0].epsilon, group[0].retention, text)
            for group, text in zip(groups, labels, strict=True)
        ],
    )


def _labelled_together(blocks: Sequence[AllocatedBlock], near: float) -> list[list[AllocatedBlock]]:
    """Those with most epsilon first; many at one place, and all that are not released, are one group."""
    places: dict[Any, list[AllocatedBlock]] = {}
    for block in sorted(blocks, key=lambda one: -one.epsilon):
        place = (round(block.epsilon / near), _effective(block)) if block.is_released else None
        places.setdefault(place, []).append(block)
    groups = []
    for place, members in places.items():
        together = place is None or len(members) > MOST_NAMED
        groups += [members] if together else [[member] for member in members]
    return groups


def _label(group: list[AllocatedBlock]) -> str:
    first, more = group[0], len(group) - 1
    name = label(first.name, LABEL_WIDTH)
    if not first.is_released:
        return f"{more + 1} not released" if more else f"{name}: not released"
    r = _told(_effective(first))
    return f"{name} + {more} more ({r})" if more else f"{name} ({r})"


def _told(cardinality: float) -> str:
    """A number of categories; an effective one, 1 / least share, with one digit behind the point."""
    return f"{cardinality:.0f}" if cardinality == int(cardinality) else f"{cardinality:,.1f}"


def _effective(block: AllocatedBlock) -> float:
    """1 / least background share: the curve that the block is on."""
    return block.block.effective_cardinality


def _cardinalities(allocation: Allocation) -> list[float]:
    """Those of the blocks with a retention; of many, a few from the smallest to the largest."""
    found = sorted({_effective(block) for block in allocation.blocks if block.has_retention})
    if len(found) <= MOST_CURVES:
        return found
    return [found[i] for i in np.linspace(0, len(found) - 1, MOST_CURVES).round().astype(int)]


def _largest(allocation: Allocation) -> float:
    """An end of the axis beyond the largest epsilon, at a round number."""
    beyond = 1.08 * max(float(allocation.epsilons.max()), 0.5)
    step = 10.0 ** math.floor(math.log10(beyond)) / 2
    return step * math.ceil(beyond / step)
