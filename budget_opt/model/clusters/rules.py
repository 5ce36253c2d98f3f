"""What must hold of clusters: members, their number of joint categories, and bounds that agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from budget_opt.errors import Fault
from budget_opt.model.clusters.block import Block
from budget_opt.model.rules import unknown_names
from budget_opt.model.values import LARGEST_CARDINALITY

if TYPE_CHECKING:
    from budget_opt.model.problem import Problem


def undecided() -> Fault:
    """What is said where clusters are needed that are still to be chosen."""
    remedy = (
        "Let design choose them, and go on with what it writes: budget-opt design PROBLEM -o designed.json "
        "(in Python bo.design(problem).problem). Or list them."
    )
    return Fault("clusters", "auto", "is a choice that has not been made", remedy)


def cluster_faults(problem: Problem) -> list[Fault]:
    """Every fault of the clusters of a problem whose attributes are valid."""
    if problem.clusters == "auto":
        return []
    faults = [*_member_faults(problem), *_repeated(problem.clusters)]
    if faults:
        return faults
    known = {attribute.name: attribute for attribute in problem.attributes}
    blocks = [Block(tuple(known[name] for name in names)) for names in problem.clusters]
    return [
        *(
            fault
            for i, block in enumerate(blocks)
            for fault in _block_faults(f"clusters[{i}]", block, problem.max_cells)
        ),
        *_same_names(blocks, [*problem.names, *(column.name for column in problem.public)]),
    ]


def _same_names(blocks: Sequence[Block], columns: Sequence[str]) -> list[Fault]:
    """Names of clusters that a column or another cluster has as well: nobody could tell them apart."""
    counts = Counter([*columns, *(block.name for block in blocks)])
    limit = "is the name of a cluster, and of something else"
    return [
        Fault("clusters", name, limit, "Rename a column.")
        for name in dict.fromkeys(block.name for block in blocks)
        if counts[name] > 1
    ]


def _member_faults(problem: Problem) -> list[Fault]:
    faults = []
    for i, names in enumerate(problem.clusters):
        faults += unknown_names(f"clusters[{i}]", names, problem.names)
        if len(names) < 2:
            limit = "must have two members at least"
            faults.append(Fault(f"clusters[{i}]", names, limit, "Add a member, or remove the cluster."))
    return faults


def _repeated(clusters: Sequence[Sequence[str]]) -> list[Fault]:
    counts = Counter(name for names in clusters for name in names)
    return [
        Fault("clusters", name, "is named twice; an attribute is in one cluster at most", "Remove one.")
        for name, count in counts.items()
        if count > 1
    ]


def _block_faults(where: str, block: Block, limit: int | None) -> list[Fault]:
    members = block.members
    faults = []
    most = LARGEST_CARDINALITY if limit is None else limit
    if block.cardinality > most:
        stated = "" if limit is None else " (max_cells)"
        remedy = "Take out a member, or use fewer categories."
        if block.cardinality <= LARGEST_CARDINALITY:
            remedy = "Take out a member, use fewer categories, or raise max_cells."
        faults.append(
            Fault(
                where,
                block.names,
                f"has {block.cardinality:,} joint categories, the limit is {most:,}{stated}",
                remedy,
            )
        )
    if block.stated_lower > block.upper:
        least = next(one for one in members if one.lower == block.stated_lower)
        largest = next(one for one in members if one.upper == block.upper)
        faults.append(
            Fault(
                where,
                block.names,
                "is randomized with one epsilon, and its members allow none: "
                f"{least.name} needs at least {block.stated_lower!r}, {largest.name} at most {block.upper!r}",
                "Change one of these pins or bounds, or take out a member.",
            )
        )
    return faults
