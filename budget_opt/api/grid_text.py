"""A rounded split as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from budget_opt.api.wording import LEAST, listed, share
from budget_opt.model.arrays import MINIMIZED
from budget_opt.tables.printing import plain_text
from budget_opt.tables.wide import Column, WideTable

if TYPE_CHECKING:
    from budget_opt.api.gridding import Rounded


def as_text(rounded: Rounded) -> str:
    """The epsilons before and after, the sentence, and what the split spends."""
    rows = rounded.rows()
    table = WideTable(
        Column("attribute", [row["attribute"] for row in rows]),
        [
            Column("unrounded", [f"{row['unrounded']:.4g}" for row in rows]),
            Column(f"multiple of {rounded.step:.12g}", [f"{row['epsilon']:.12g}" for row in rows]),
        ],
    )
    spent = f"spent: epsilon {rounded.allocation.spent_epsilon:.12g} a record"
    return plain_text(Group(table, Text(sentence(rounded)), Text(spent)))


def sentence(rounded: Rounded) -> str:
    """What the grid costs, and what is proved about it; a grid on which nothing is worth anything says so."""
    kind, lost = rounded.allocation.objective.kind, rounded.given_up
    if lost and not rounded.allocation.objective.value:
        which = "every split on it" if rounded.is_best else "the best split that was found on it"
        worth = "an infinite variance" if kind == "min_variance" else f"{kind} 0"
        return (
            f"The grid of {rounded.step:.12g} is too coarse: {which} has {worth}. "
            f"This one gives up {listed(lost)}{_way_out(rounded)}."
        )
    said = f"The grid of {rounded.step:.12g} {_cost(rounded)} ({kind}); {_proof(rounded)}."
    return f"{said} It gives up {listed(lost)}{_way_out(rounded)}." if lost else said


def _proof(rounded: Rounded) -> str:
    if rounded.is_best:
        return "proved: no split on this grid is better"
    gap = rounded.grid_gap
    if gap is None:
        return "the best that local search found"
    return f"the best found; none on this grid is better by more than {share(gap, 'up')}, proved"


def _way_out(rounded: Rounded) -> str:
    return "" if rounded.finer is None else f"; with a step of {rounded.finer:.12g} nothing is given up"


def _cost(rounded: Rounded) -> str:
    """The loss, and the largest that there may be where that is another number."""
    loss, most = rounded.loss, rounded.largest_loss
    if loss is None:
        return "is possible"
    if loss < -LEAST:
        return f"costs nothing: this split is {share(-loss)} better than the best that was found off it"
    if loss <= 0:
        return "costs nothing"
    word = " more" if rounded.allocation.objective.kind in MINIMIZED else ""
    further = ""
    if most is not None and share(most) != share(loss):
        further = f", at most {share(most, 'up')} against what is possible at all"
    return f"costs {share(loss)}{word}{further}"
