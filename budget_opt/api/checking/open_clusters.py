"""What is known of a problem whose clusters are still to be chosen: which may be, and what none can keep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from budget_opt.api.wording import counted, listed
from budget_opt.errors import InfeasibleError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.model.values import LARGEST_EPSILON, MAX_CELLS
from budget_opt.tables.printing import percent

DESIGN = "budget-opt design PROBLEM -o designed.json"
"""The command that chooses."""
_MOST_MEMBERS, _MOST_GROUPINGS = 6, 64
"""Of a moment whose partitions are tried one by one: 203 of six members, for all groupings."""
_ROUNDING = 1e-9
"""Relative, of a retention in doubles."""


def cells_of(problem: Problem) -> int:
    """The most joint categories of a cluster that `design` would choose."""
    return MAX_CELLS if problem.max_cells is None else problem.max_cells


def cluster_note(problem: Problem) -> str:
    """Which clusters `max_cells` admits, with the coarsest of the candidate groupings."""
    cells, attributes = cells_of(problem), [_coarsest(one) for one in problem.attributes]
    pairs = [pair for pair in combinations(attributes, 2) if _fits(pair, cells)]
    inside = {one.name for pair in pairs for one in pair}
    alone = [f"{one.name} ({one.cardinality:,} categories)" for one in attributes if one.name not in inside]
    limit = f"at most {cells} joint categories"
    if problem.max_cells is None:
        limit += " (max_cells is not stated: this is what design takes)"
    how = f"and design chooses them: {DESIGN}"
    if problem.total_delta > 0:
        how = "and design does so only without a total_delta: list them, or remove it"
    told = f"clusters are to be chosen, {how}. With {limit}, {len(pairs):,} of "
    told += f"{math.comb(len(attributes), 2):,} pairs of attributes may be one"
    if pairs:
        told += f", and none has more than {counted(_most_members(attributes, cells), 'member')}"
    fits = "fits" if len(alone) == 1 else "fit"
    return told + (f"; {listed(alone, 9)} {fits} into none" if alone else "")


def _most_members(attributes: Sequence[Attribute], cells: int) -> int:
    """How many of the attributes with the fewest categories fit into one cluster."""
    size, left = 0, cells
    for cardinality in sorted(one.cardinality for one in attributes):
        left //= cardinality
        if left < 1:
            break
        size += 1
    return size


def most_kept(problem: Problem, moment: CrossMoment) -> float | None:
    """What no clusters and candidate groupings pass: every cluster has the whole total for itself.

    A cluster with more members than those of the moment keeps less at the same epsilon. None for a moment
    with too many members or groupings to try, and of a problem with a `total_delta`, which is no sum.
    """
    if problem.total_delta > 0:
        return None
    options = [_options(problem.attribute(name)) for name in problem.attributes_in(moment)]
    if len(options) > _MOST_MEMBERS or math.prod(map(len, options)) > _MOST_GROUPINGS:
        return None
    cells = cells_of(problem)
    total = LARGEST_EPSILON if problem.total_epsilon is None else problem.total_epsilon
    return max(
        (
            math.prod(_kept(Block(block), total) for block in partition)
            for members in product(*options)
            for partition in _partitions(members)
            if all(len(block) == 1 or _fits(block, cells) for block in partition)
        ),
        default=None,
    )


def beyond_all(problem: Problem) -> InfeasibleError | None:
    """The error of floors that no clusters and groupings keep, however the total is split; else None."""
    found = [
        f"{label} >= {moment.floor:g} (at most {most:.4g})"
        for label, moment in zip(told_apart(problem.moments), problem.moments, strict=True)
        if moment.floor is not None
        and (most := most_kept(problem, moment)) is not None
        and most * (1 + _ROUNDING) < moment.floor
    ]
    if not found:
        return None
    return InfeasibleError(
        f"whatever is randomized together, even with the whole total for one moment, it cannot keep "
        f"{listed(found)}.\n  Raise total_epsilon, lower the floor, or allow larger clusters (max_cells)."
    )


def most_kept_notes(problem: Problem, least: float) -> list[str]:
    """Moments that keep less than `least` of their value whatever is chosen."""
    return [
        f"{label} keeps at most {percent(most)} of its value under this total, whatever is randomized "
        "together: fewer categories or a larger total would help"
        for label, moment in zip(told_apart(problem.moments), problem.moments, strict=True)
        if (most := most_kept(problem, moment)) is not None and most < least
    ]


def _kept(block: Block, total: float) -> float:
    epsilon = min(total, block.upper)
    details = math.prod(float(one.detail) for one in block.members)
    return float(rr.retention(epsilon, block.effective_cardinality)) * details


def _options(attribute: Attribute) -> list[Attribute]:
    """The attribute with each grouping that it may have."""
    if not attribute.groupings:
        return [attribute]
    chosen = dict.fromkeys([attribute.grouping, None, *attribute.groupings])
    return [attribute.with_fields(grouping=one) for one in chosen]


def _coarsest(attribute: Attribute) -> Attribute:
    return min(_options(attribute), key=lambda one: one.cardinality)


def _fits(members: Sequence[Attribute], cells: int) -> bool:
    joined = Block(tuple(members))
    return joined.cardinality <= cells and joined.lower <= joined.upper


def _partitions(members: Sequence[Attribute]) -> Iterator[list[tuple[Attribute, ...]]]:
    """All partitions of a few members."""
    if not members:
        yield []
        return
    first, rest = members[0], members[1:]
    for partition in _partitions(rest):
        yield [(first,), *partition]
        for i, block in enumerate(partition):
            yield [*partition[:i], (first, *block), *partition[i + 1 :]]
