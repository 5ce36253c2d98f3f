"""What was asked: attributes, moments, objective, limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from budget_opt.allocation.merging import grouping_sentences
from budget_opt.model.arrays import Objective
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.report.blocks import Block, Bullets, Paragraph, Section, Table
from budget_opt.report.subject import Subject
from budget_opt.report.words import count, listed, number, share
from budget_opt.tables.printing import NOTHING

LABELS = 6
"""Labels of categories that are written out; a longer list is cut."""

MOST_MOMENTS = 100
"""Moments up to which they have a table here as well."""

OBJECTIVES: dict[Objective, str] = {
    "weighted_sum": "The best split has the largest weighted sum of retentions (objective weighted_sum). It "
    "may give a moment up entirely where that serves the others; floors prevent it.",
    "geometric_mean": "The best split has the largest weighted geometric mean of retentions (objective "
    "geometric_mean): relative gains count, and no moment with a weight is given up.",
    "max_min": "The best split raises the worst retention, relative to the target of its moment, as far as "
    "possible (objective max_min). Weights do not matter, except 0.",
    "min_epsilon": "The best split is the cheapest one that keeps every floor (objective min_epsilon).",
    "min_variance": "The best split has the least weighted sum of the variances of the corrected estimates "
    "(objective min_variance).",
}


def question(subject: Subject) -> Section:
    """The question in words and tables."""
    problem = subject.problem
    blocks: list[Block] = [Paragraph(opening(problem)), Paragraph(OBJECTIVES[problem.objective])]
    blocks.append(_attributes(problem))
    if len(problem.moments) > MOST_MOMENTS:
        blocks.append(Paragraph("The table of what each moment will be worth lists them with their weights."))
    else:
        blocks += [Paragraph(_weights(problem)), _moments(problem)]
    merging = [f"{one}." for one in grouping_sentences(problem.attributes)]
    if limits := [*merging, *_groups(problem), *_levels(problem), *_unknown_limits(subject)]:
        blocks.append(Bullets(tuple(limits)))
    return Section("question", "The question", tuple(blocks))


def opening(problem: Problem) -> str:
    """Who may spend how much on what."""
    total = problem.total_epsilon
    budget = ""
    if total is not None:
        delta = f" with delta {problem.total_delta:g}" if problem.total_delta > 0 else ""
        budget = (
            f" Together they may spend a privacy budget (epsilon) of {number(total)}{delta} on each record."
        )
    attributes = count(len(problem.attributes), "attribute")
    moments = count(len(problem.moments), "moment")
    each = "a relationship" if len(problem.moments) == 1 else "each is a relationship"
    needs = f"The analysts need {moments}: {each} between attributes that they want to measure."
    return (
        f"A table with {attributes} is to be released with every value randomized.{budget} {needs} "
        f"The question is {_ASKED[problem.objective]}."
    )


_OVER_ATTRIBUTES = "how to split the budget over the attributes"


_ASKED: dict[Objective, str] = {
    "weighted_sum": f"{_OVER_ATTRIBUTES} so that most of what they need survives",
    "geometric_mean": f"{_OVER_ATTRIBUTES} so that what they need survives best",
    "max_min": f"{_OVER_ATTRIBUTES} so that as much as possible survives of what survives least",
    "min_epsilon": "how little epsilon keeps every floor, and how it is split over the attributes",
    "min_variance": f"{_OVER_ATTRIBUTES} so that what they need can be estimated most precisely",
}


def _attributes(problem: Problem) -> Table:
    headings: tuple[str, ...] = ("Attribute", "Categories", "Labels")
    bounded = any(_bounds(attribute) != _ANY for attribute in problem.attributes)
    rows = [
        (attribute.name, f"{attribute.cardinality:,}", _labels(attribute), _bounds(attribute))
        for attribute in problem.attributes
    ]
    if not bounded:
        rows_shown: list[tuple[str, ...]] = [row[:3] for row in rows]
        return Table("Attributes and their categories", headings, tuple(rows_shown), words=(0, 2))
    headings = (*headings, "Epsilon allowed")
    return Table("Attributes and their categories", headings, tuple(rows), words=(0, 2, 3))


def _labels(attribute: Attribute) -> str:
    labels = ["missing" if label is None else str(label) for label in attribute.domain.labels[:LABELS]]
    more = attribute.cardinality - len(labels)
    merged = f" (merged of {attribute.declared_cardinality:,})" if attribute.grouping is not None else ""
    return ", ".join(labels) + (f", … and {more:,} more" if more else "") + merged


_ANY = "any"


def _bounds(attribute: Attribute) -> str:
    if attribute.epsilon is not None:
        return f"pinned at {number(attribute.epsilon)}"
    if attribute.pin is not None:
        cells = f"at most {share(attribute.distortion_max)} of its cells"
        return (
            f"pinned at {number(attribute.pin)}, the least for {cells} to be changed by its source's matrix"
        )
    low, high = attribute.lower, attribute.upper
    words = [f"at least {number(low)}"] if low > 0 else []
    words += [f"at most {number(high)}"] if high < math.inf else []
    if attribute.distortion_max is not None:
        words.append(f"enough for at most {share(attribute.distortion_max)} of its cells to be changed")
    return listed(words) or _ANY


def _weights(problem: Problem) -> str:
    asked = [f"The table lists every moment with its weight ({_WEIGHT[problem.objective]})"]
    asked += ["its floor (the least retention asked for)"] if _any(problem, "floor") else []
    asked += ["its ceiling (the largest retention allowed)"] if _any(problem, "ceiling") else []
    return f"{listed(asked)}."


_WEIGHT: dict[Objective, str] = {
    "weighted_sum": "its share in the objective",
    "geometric_mean": "its share in the objective",
    "max_min": "only 0 matters: such a moment does not count",
    "min_epsilon": "without effect here, only floors count",
    "min_variance": "its share in the objective",
}


def _any(problem: Problem, field: str) -> bool:
    return any(getattr(moment, field) is not None for moment in problem.moments)


def _moments(problem: Problem) -> Table:
    shown = [column for column in _COLUMNS if column.is_told(problem)]
    rows = tuple(tuple(column.cell(moment) for column in shown) for moment in problem.moments)
    return Table("Moments that the analysts need", tuple(column.heading for column in shown), rows)


@dataclass(frozen=True)
class _Column:
    """A column of the table of moments: of which problems it is told, and what it tells of a moment."""

    heading: str
    is_told: Callable[[Problem], bool]
    cell: Callable[[CrossMoment], str]


_COLUMNS = (
    _Column("Moment", lambda problem: True, lambda moment: moment.label),
    _Column("Weight", lambda problem: True, lambda moment: number(moment.weight)),
    _Column("Floor", lambda problem: _any(problem, "floor"), lambda moment: share(moment.floor)),
    _Column("Ceiling", lambda problem: _any(problem, "ceiling"), lambda moment: share(moment.ceiling)),
    _Column("Target", lambda problem: problem.objective == "max_min", lambda moment: number(moment.target)),
    _Column(
        "Variance",
        lambda problem: problem.objective == "min_variance",
        lambda moment: number(moment.variance),
    ),
    _Column(
        "Level",
        lambda problem: len(problem.levels) > 1,
        lambda moment: str(moment.level) if moment.weight > 0 else NOTHING,
    ),
)


def _groups(problem: Problem) -> list[str]:
    return [
        f"Group {group.name}: {listed(group.attributes)} {'together ' if len(group.attributes) > 1 else ''}"
        f"may have at most epsilon {number(group.epsilon_max)}."
        for group in problem.groups
    ]


def _levels(problem: Problem) -> list[str]:
    if len(problem.levels) <= 1:
        return []
    first = problem.levels[0]
    return [
        f"Levels are priorities: level {first} is served first, the next with what that leaves, and so on."
    ]


def _unknown_limits(subject: Subject) -> list[str]:
    if subject.whole:
        return []
    return [
        (
            "The problem says more than the allocation file carries, such as limits on the epsilon of single "
            "attributes. The problem file was not given to this report, so these limits are neither shown "
            "nor checked here."
        )
    ]
