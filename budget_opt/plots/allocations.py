"""Who gets how much of the budget, and how much each may have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from budget_opt.plots.bars import Bar, Rest, Words, bars
from budget_opt.plots.choosing import LARGEST, chosen_blocks, others_in_words
from budget_opt.plots.names import distinct, label
from budget_opt.plots.style import finished
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.allocation import Allocation
    from budget_opt.allocation.blocks import AllocatedBlock
    from budget_opt.model.problem import Problem


def allocation_bars(
    allocation: Allocation,
    beside: Allocation | None = None,
    problem: Problem | None = None,
    ax: Axes | None = None,
    largest: int = LARGEST,
) -> Axes:
    """Epsilon of attributes and clusters in nats, bounds as marks; `beside` (the even split, say) in grey.

    An allocation that was read from a file has no pins and bounds: `problem` is what it was made from. Of
    more than `largest` attributes those with the most epsilon are shown, the others as a range.
    """
    problem = problem or allocation.question
    chosen = chosen_blocks(allocation, largest)
    shown = [allocation.blocks[m] for m in chosen.shown]
    labels = distinct(label(block.name) for block in shown)
    rows = [_row(name, block, problem, beside) for name, block in zip(labels, shown, strict=True)]
    rest = None
    if chosen.others:
        given = tuple(allocation.blocks[m].epsilon for m in chosen.others)
        rest = Rest(others_in_words(len(given), "attribute"), given)
    words = Words(
        value="this split",
        beside="" if beside is None else label(beside.objective.solver),
        axis="epsilon of the attribute (nats); on the right also its retention lambda",
        at_least="at least",
        at_most="at most",
    )
    return finished(bars(rows, rest, words, ax))


def _row(name: str, block: AllocatedBlock, problem: Problem, beside: Allocation | None) -> Bar:
    stated = problem.block_of(block.names[0])
    pinned = stated.is_pinned
    kept = "not released"
    if block.is_released:
        kept = percent(block.retention) if block.has_retention else "by source"
    other = None if beside is None else sum(one.epsilon for one in beside.touched(block.names))
    return Bar(
        label=name,
        value=block.epsilon,
        beside=other,
        at_least=stated.lower if not pinned and stated.lower > 0 else None,
        at_most=stated.upper if not pinned and math.isfinite(stated.upper) else None,
        pinned=stated.lower if pinned else None,
        note=f"{block.epsilon:.3g}, {kept}",
    )
