"""Who gets how much of the budget, and how much each may have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from budget_opt.plots.bars import Bar, Rest, Words, bars
from budget_opt.plots.choosing import LARGEST, chosen_attributes, others_in_words
from budget_opt.plots.names import distinct, label
from budget_opt.plots.style import finished
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.allocation import Allocation
    from budget_opt.allocation.allocation import AllocatedAttribute
    from budget_opt.model.problem import Problem


def allocation_bars(
    allocation: Allocation,
    beside: Allocation | None = None,
    problem: Problem | None = None,
    ax: Axes | None = None,
    largest: int = LARGEST,
) -> Axes:
    """Epsilon of every attribute in nats with its bounds as marks; `beside` (the even split, say) in grey.

    An allocation that was read from a file has no pins and bounds: `problem` is what it was made from. Of
    more than `largest` attributes those with the most epsilon are shown, the others as a range.
    """
    problem = problem or allocation.question
    chosen = chosen_attributes(allocation, largest)
    shown = [allocation.attributes[m] for m in chosen.shown]
    labels = distinct(label(attribute.name) for attribute in shown)
    rows = [_row(name, attribute, problem, beside) for name, attribute in zip(labels, shown, strict=True)]
    rest = None
    if chosen.others:
        given = tuple(allocation.attributes[m].epsilon for m in chosen.others)
        rest = Rest(others_in_words(len(given), "attribute"), given)
    words = Words(
        value="this split",
        beside="" if beside is None else label(beside.objective.solver),
        axis="epsilon of the attribute (nats); on the right also its retention lambda",
        at_least="at least",
        at_most="at most",
    )
    return finished(bars(rows, rest, words, ax))


def _row(name: str, attribute: AllocatedAttribute, problem: Problem, beside: Allocation | None) -> Bar:
    stated = problem.attribute(attribute.name)
    pinned = stated.epsilon is not None
    kept = "not released" if attribute.sampler is None else percent(attribute.retention)
    return Bar(
        label=name,
        value=attribute.epsilon,
        beside=None if beside is None else beside[attribute.name].epsilon,
        at_least=stated.epsilon_min if not pinned and stated.lower > 0 else None,
        at_most=stated.epsilon_max if not pinned and math.isfinite(stated.upper) else None,
        pinned=stated.epsilon,
        note=f"{attribute.epsilon:.3g}, {kept}",
    )
