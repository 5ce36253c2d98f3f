"""The categories that several splits release, where their groupings differ: each is judged with its own."""

from __future__ import annotations

from collections.abc import Sequence

from budget_opt.allocation import Allocation
from budget_opt.model.attribute import Attribute
from budget_opt.model.problem import Problem


def with_grouping_of(attribute: Attribute, stated: Attribute) -> Attribute:
    """The attribute in the merged categories of another of the same declared ones; else as it is."""
    if attribute.grouping == stated.grouping or _declared(attribute) != _declared(stated):
        return attribute
    return attribute.with_fields(grouping=stated.grouping)


def merged_otherwise(problem: Problem, split: Allocation) -> list[str]:
    """Attributes of both that are released in as many categories, and not in the same ones, by a grouping."""
    stated = {one.name: one for one in split.question.attributes}
    return [
        one.name
        for one in problem.attributes
        if (one.grouping is not None or stated[one.name].grouping is not None)
        and one.domain.identity != stated[one.name].domain.identity
    ]


def caution_of_groupings(allocations: Sequence[Allocation], names: Sequence[str]) -> list[str]:
    """That the splits release other categories, and what that means; none where they do not."""
    told = []
    for first in allocations[0].question.attributes:
        released = [allocation[first.name] for allocation in allocations]
        if len({one.domain.identity for one in released}) > 1:
            sizes = [f"{one.cardinality:,} in {name}" for name, one in zip(names, released, strict=True)]
            told.append(f"{first.name}: {', '.join(sizes)}")
    if not told:
        return []
    caution = (
        f"the splits release other categories ({'; '.join(told)}). Each is judged with its own: retentions "
        "are of the declared categories and count what merging leaves, which is assumed, not proved; "
        "variance inflations are of the released categories, and say little about those of others"
    )
    return [caution]


def _declared(attribute: Attribute) -> tuple[object, ...]:
    return attribute.with_fields(grouping=None).domain.identity
