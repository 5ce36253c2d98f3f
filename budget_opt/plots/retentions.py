"""What a split keeps of every moment, beside another split, the floors and the ceilings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.plots.bars import Bar, Rest, Words, bars
from budget_opt.plots.choosing import LARGEST, chosen_moments, others_in_words
from budget_opt.plots.names import distinct, label, moment_label
from budget_opt.plots.style import finished
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from budget_opt.allocation import Allocation
    from budget_opt.allocation.allocation import AllocatedMoment


def retention_bars(
    allocation: Allocation, beside: Allocation | None = None, ax: Axes | None = None, largest: int = LARGEST
) -> Axes:
    """Retention of every moment in percent; `beside` (the even split, say) in grey, limits as marks.

    Of more than `largest` moments those with limits and the largest weights are shown, the others as a range.
    """
    moments = allocation.moments
    chosen = chosen_moments(moments, largest)
    shown = [moments[k] for k in chosen.shown]
    labels = distinct(moment_label(moment.attributes) for moment in shown)
    rows = [_row(name, moment, beside) for name, moment in zip(labels, shown, strict=True)]
    rest = None
    if chosen.others:
        kept = tuple(100 * moments[k].retention for k in chosen.others)
        rest = Rest(others_in_words(len(kept), "moment"), kept)
    words = Words(
        value="this split",
        beside="" if beside is None else label(beside.objective.solver),
        axis="retention of the cross-moment (%)",
        at_least="floor",
        at_most="ceiling",
    )
    return finished(bars(rows, rest, words, ax))


def _row(name: str, moment: AllocatedMoment, beside: Allocation | None) -> Bar:
    missed = "" if moment.keeps_floor else ", floor missed"
    exceeded = "" if moment.keeps_ceiling else ", ceiling exceeded"
    return Bar(
        label=name,
        value=100 * moment.retention,
        beside=None if beside is None else 100 * beside.retention(*moment.attributes),
        at_least=None if moment.floor is None else 100 * moment.floor,
        at_most=None if moment.ceiling is None else 100 * moment.ceiling,
        note=f"{percent(moment.retention)}{missed}{exceeded}",
    )
