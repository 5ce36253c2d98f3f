"""What a problem leaves to `design`: attributes that could be randomized together, other groupings."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.model.values import MAX_CELLS

TOGETHER = "what to randomize together"
CATEGORIES = "which categories to merge"


def open_choices(problem: Problem, moments: Iterable[CrossMoment]) -> tuple[str, ...]:
    """What `design` could choose otherwise for these moments, in words; whether that helps is not known.

    Clusters that the problem states are its choice, and are not called into question.
    """
    if problem.total_delta > 0:
        return ()  # design takes problems whose total is a sum
    of_each = [[problem.attribute(name) for name in problem.attributes_in(moment)] for moment in moments]
    free = problem.clusters == "auto" or not problem.clusters
    found = []
    if free and any(_fit(problem, pair) for attributes in of_each for pair in combinations(attributes, 2)):
        found.append(TOGETHER)
    if any(one.groupings and {None, *one.groupings} - {one.grouping} for each in of_each for one in each):
        found.append(CATEGORIES)
    return tuple(found)


def _fit(problem: Problem, pair: tuple[Attribute, ...]) -> bool:
    """True where these two may be a cluster: few enough joint categories, and bounds that agree."""
    joined = Block(pair)
    cells = MAX_CELLS if problem.max_cells is None else problem.max_cells
    return joined.cardinality <= cells and joined.lower <= joined.upper
