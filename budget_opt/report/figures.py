"""The figures of the report, each with its title and the same in words; their data stand in the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.report.blocks import Figure
from budget_opt.report.inline import inline_svg
from budget_opt.report.subject import Subject
from budget_opt.report.words import listed, number, share

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation
    from budget_opt.estimators.planning.plan import Plan
    from budget_opt.plots.files import Draw

MOST_IN_MATRIX = 24
"""Attributes whose pairs can be read as numbers."""
MOST_BARS = 20
"""Rows of bars that fill a page of A4 and can still be read there."""


def _figure(draw: Draw, name: str, title: str, text: str) -> Figure:
    from budget_opt.plots import svg_text

    svg = svg_text(draw, title=title, prefix=f"f-{name}", description=text)
    return Figure(inline_svg(svg), title, text)


def split_figures(subject: Subject) -> list[Figure]:
    """Who gets how much, and where that is on the curve of retention against epsilon."""
    from budget_opt.plots import allocation_bars, retention_curves

    allocation, beside = subject.allocation, _beside(subject)
    return [
        _figure(
            lambda ax: allocation_bars(
                allocation, beside=beside, problem=subject.problem, ax=ax, largest=MOST_BARS
            ),
            "epsilon",
            "Epsilon of every attribute",
            f"Bars of the epsilon of every attribute. {_most(allocation)} The table of the split has all "
            "numbers.",
        ),
        _figure(
            lambda ax: retention_curves(allocation=allocation, ax=ax),
            "curves",
            "Retention against epsilon",
            "Curves of the retention of an attribute against its epsilon, one a number of categories, "
            f"with the attributes of this split as points. {_largest(allocation)} The table of the split has "
            "all numbers.",
        ),
    ]


def _most(allocation: Allocation) -> str:
    """Who has most epsilon."""
    ordered = sorted(allocation.blocks, key=lambda block: -block.epsilon)
    most = [block for block in ordered[:3] if block.epsilon > 0]
    if not most:
        return "Nobody has any."
    if len(ordered) > 1 and ordered[0].epsilon == ordered[-1].epsilon:
        return f"Each has {number(most[0].epsilon)}."
    return f"Most goes to {listed([f'{one.name} with {number(one.epsilon)}' for one in most])}."


def _largest(allocation: Allocation) -> str:
    with_retention = [block for block in allocation.blocks if block.has_retention]
    largest = max(with_retention, key=lambda block: block.retention)
    if largest.retention == 0:
        every = len(with_retention) == len(allocation.blocks)
        return "No attribute is released." if every else "No attribute with a retention is released."
    return f"The largest retention is {share(largest.retention)}, of {largest.name}."


def worth_figures(subject: Subject) -> list[Figure]:
    """What is kept of every moment, beside the even split."""
    from budget_opt.plots import retention_bars

    allocation, beside = subject.allocation, _beside(subject)
    best = max(allocation.moments, key=lambda moment: moment.retention)
    worst = min(allocation.moments, key=lambda moment: moment.retention)
    span = f", from {share(worst.retention)} for {worst.label} to {share(best.retention)} for {best.label}"
    if best.retention == worst.retention:
        span = f": {share(best.retention)}"
    return [
        _figure(
            lambda ax: retention_bars(allocation, beside=beside, ax=ax, largest=MOST_BARS),
            "retention",
            "Retention of the moments",
            f"Bars of the retention of the moments{span}; floors and ceilings are marks. The table has all "
            "numbers.",
        )
    ]


def matrix_figures(allocation: Allocation) -> list[Figure]:
    """What is kept of every pair, also of those that nobody asked for; only as far as numbers fit in."""
    from budget_opt.plots import retention_matrix

    if not 2 < len(allocation.attributes) <= MOST_IN_MATRIX:
        return []
    return [
        _figure(
            lambda ax: retention_matrix(allocation, ax=ax),
            "matrix",
            "Retention of every pair of attributes",
            "Shades and numbers: the retention of every pair in percent, and of each attribute alone on the "
            f"diagonal. {_of_a_pair(allocation)}",
        )
    ]


def _of_a_pair(allocation: Allocation) -> str:
    said = "The retention of a pair is the product of the two in the table of the split"
    if any(block.is_cluster for block in allocation.blocks):
        said += "; of two that are randomized together it is that of their cluster"
    return f"{said}."


def plan_figures(found: Plan) -> list[Figure]:
    """Retention against precision at n."""
    from budget_opt.plots import precision_plot

    return [
        _figure(
            lambda ax: precision_plot(found, ax=ax),
            "precision",
            f"Retention against precision at {found.n:,} records",
            "Every moment as a point: its retention, and its expected standard error. "
            "The table of the plan has all numbers.",
        )
    ]


def _beside(subject: Subject) -> Allocation | None:
    return None if subject.is_even else subject.even
