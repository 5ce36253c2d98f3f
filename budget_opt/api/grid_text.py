"""A rounded split as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from budget_opt.api.wording import share
from budget_opt.model.arrays import MINIMIZED
from budget_opt.tables.printing import plain_text

if TYPE_CHECKING:
    from budget_opt.api.gridding import Rounded


def as_text(rounded: Rounded) -> str:
    """The epsilons before and after, the sentence, and what the split spends."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("attribute", overflow="fold")
    for heading in ("unrounded", f"multiple of {rounded.step:g}"):
        table.add_column(heading, justify="right")
    for row in rounded.rows():
        table.add_row(Text(row["attribute"]), f"{row['unrounded']:.4g}", f"{row['epsilon']:.12g}")
    spent = f"spent: epsilon {rounded.allocation.spent_epsilon:.12g} a record"
    return plain_text(Group(table, Text(sentence(rounded)), Text(spent)))


def sentence(rounded: Rounded) -> str:
    """What the grid costs, and what is proved about it."""
    kind, gap = rounded.allocation.objective.kind, rounded.grid_gap
    if rounded.is_best:
        proof = "proved: no split on this grid is better"
    elif gap is None:
        proof = "the best that local search found"
    else:
        proof = f"the best found; none on this grid is better by more than {share(gap, 'up')}, proved"
    return f"The grid of {rounded.step:g} {_cost(rounded)} ({kind}); {proof}."


def _cost(rounded: Rounded) -> str:
    """The loss, and the largest that there may be where that is another number."""
    loss, most = rounded.loss, rounded.largest_loss
    if loss is None:
        return "is possible"
    if loss <= 0:
        return "costs nothing"
    word = " more" if rounded.allocation.objective.kind in MINIMIZED else ""
    further = ""
    if most is not None and share(most) != share(loss):
        further = f", at most {share(most, 'up')} against what is possible at all"
    return f"costs {share(loss)}{word}{further}"
