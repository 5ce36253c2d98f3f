"""A problem with the choice that an allocation has made of what it leaves open: clusters and groupings.

`design` answers a problem whose clusters are "auto", or whose attributes have candidate groupings, by another
problem that states its choice. The allocation is made from that one and carries its hash.
"""

from __future__ import annotations

from budget_opt.allocation.allocation import Allocation
from budget_opt.errors import ProblemError
from budget_opt.model.attribute import Attribute
from budget_opt.model.declared import Declared
from budget_opt.model.problem import Problem
from budget_opt.model.values import MAX_CELLS

AS_CHOSEN = (
    "clusters and groupings are as the allocation chose them, within what the problem leaves open; that no "
    "other choice is better is not verified here: the file that design --certificate writes proves it"
)
GIVE_THE_DESIGNED = (
    "the problem leaves clusters or groupings to be chosen, and this allocation is none of its choices as "
    "they stand there (other clusters, or another max_cells): give the problem that design wrote"
)


def leaves_open(problem: Problem) -> bool:
    """True where clusters are to be chosen, or an attribute has candidate groupings."""
    return problem.clusters == "auto" or any(one.groupings for one in problem.attributes)


def as_designed(problem: Problem, allocation: Allocation) -> Problem:
    """The problem with the allocation's clusters and groupings, where it leaves those open.

    It is returned as it is where it leaves nothing open, and where the allocation was not made from a problem
    that differs in nothing but clusters within `max_cells` and groupings among the candidates: the hash
    tells.
    """
    if not leaves_open(problem) or problem.sha256 == allocation.problem_sha256:
        return problem
    stated = {one.name: one for one in allocation.question.attributes}
    attributes = [
        one.with_fields(grouping=stated[one.name].grouping)
        if one.groupings and one.name in stated and _is_candidate(one, stated[one.name])
        else one
        for one in problem.attributes
    ]
    clusters = allocation.question.clusters if problem.clusters == "auto" else problem.clusters
    # where the problem states no limit, design writes its own
    limits = (problem.max_cells, MAX_CELLS) if problem.max_cells is None else (problem.max_cells,)
    for limit in limits if clusters else (None,):
        try:
            found = problem.with_fields(attributes=attributes, clusters=clusters, max_cells=limit)
        except ProblemError:
            continue
        if found.sha256 == allocation.problem_sha256:
            return found
    return problem


def _is_candidate(attribute: Attribute, chosen: Declared) -> bool:
    return chosen.grouping in {None, attribute.grouping, *(attribute.groupings or ())}
