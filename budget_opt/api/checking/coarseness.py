"""Attributes with so many categories that little of them can survive, and coarser domains that would help.

Below epsilon ~ log r, lambda is about epsilon / r: each category more costs what each nat more brings. What a
coarser domain keeps of a moment is its own lambda times the share of the score's variance that it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.allocation.merging import categories_told, variance_told
from budget_opt.allocation.rounding import even
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.attribute import Attribute
from budget_opt.model.groupings.grouping import Grouping
from budget_opt.model.labels import label_text
from budget_opt.model.problem import Problem
from budget_opt.tables.printing import percent

HOPELESS = 0.05
"""An attribute that keeps less than this at the even split is warned of."""
BETTER = 1.5
"""By this factor at least a coarser domain must keep more to be named."""
MOST_GROUPS = 12
"""Groups of neighbours that are tried where no candidates are stated."""
_MORE = "a larger total, scores by which its categories are alike, or fewer attributes would help"
_GROUPINGS = "groupings of what is rare or alike, of which design chooses; or give a larger total"
SHOWN = 90
"""Letters of a grouping that are shown."""


@dataclass(frozen=True)
class Coarser:
    """A coarser domain of an attribute: how it is called, what it leaves, and what is kept in all."""

    told: str
    cardinality: int
    leaves: str
    kept: float


def hopeless_attributes(problem: Problem) -> list[str]:
    """A sentence on every attribute of a moment that keeps next to nothing at the even split."""
    used = {name for moment in problem.moments for name in problem.attributes_in(moment)}
    return [
        _sentence(block.members[0], float(epsilon))
        for block, epsilon in zip(problem.blocks, even(problem.arrays), strict=True)
        if not block.is_cluster and block.name in used and 0 < _kept(block.members[0], epsilon) < HOPELESS
    ]


def _sentence(attribute: Attribute, epsilon: float) -> str:
    kept = _kept(attribute, epsilon)
    told = (
        f"{attribute.name}: with {attribute.cardinality:,} categories and {epsilon:.3g} nats, its part of an "
        f"even split, only {percent(kept)} survives (about epsilon / categories)"
    )
    best = max(_coarser(attribute, epsilon), key=lambda one: one.kept, default=None)
    if best is None:
        return f"{told}: {_way_out(attribute)}"
    if best.kept < BETTER * kept:
        return f"{told}, and the coarser domains that were tried keep {percent(best.kept)} at most: {_MORE}"
    return (
        f"{told}: {best.told} ({best.cardinality:,} categories, which leave {best.leaves}) would "
        f"keep {percent(best.kept)}, if moments lose no more than that by merging"
    )


def _way_out(attribute: Attribute) -> str:
    """What to do where there is no candidate."""
    if attribute.grouping is not None:
        return "merge more of its categories, or give a larger total"
    if attribute.marginal is None:
        return f"state its marginal, and {_GROUPINGS}"
    return f"state {_GROUPINGS}"


def _kept(attribute: Attribute, epsilon: float) -> float:
    """Lambda times what a chosen grouping leaves."""
    return float(rr.retention(epsilon, attribute.effective_cardinality)) * float(attribute.detail)


def _coarser(attribute: Attribute, epsilon: float) -> Iterator[Coarser]:
    """The stated candidates; where there are none, groups of neighbours, if categories have an order."""
    candidates = [("its grouping {}", one) for one in attribute.groupings or ()]
    if not candidates and attribute.grouping is None:
        candidates = [(f"{k} groups of neighbours", one) for k, one in _neighbours(attribute)]
    for told, grouping in candidates:
        coarse = attribute.with_fields(grouping=grouping)
        leaves = f"{percent(float(coarse.detail))} of {variance_told(coarse)}"
        yield Coarser(told.format(_shown(coarse)), coarse.cardinality, leaves, _kept(coarse, epsilon))


def _shown(attribute: Attribute) -> str:
    text = categories_told(attribute)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _neighbours(attribute: Attribute) -> Iterator[tuple[int, Grouping]]:
    """Groups of neighbours of about equal shares, in the order of the scores' categories."""
    if attribute.score_values is None or np.any(np.diff(attribute.score_values) <= 0):
        return
    labels = [label for label in attribute.domain.labels if label is not None]
    share = np.array(attribute.shares or [1.0] * attribute.cardinality)[: len(labels)]
    middle = (np.cumsum(share) - share / 2) / share.sum()
    for k in range(2, min(MOST_GROUPS, len(labels) - 1) + 1):
        group = np.minimum((middle * k).astype(np.int64), k - 1)
        if len(np.unique(group)) == k:
            yield k, _grouping([[labels[i] for i in np.flatnonzero(group == g)] for g in range(k)])


def _grouping(groups: Sequence[Sequence[str | int | bool]]) -> Grouping:
    """Named by the first and the last member."""
    names = tuple(
        label_text(one[0]) if len(one) == 1 else f"{label_text(one[0])} to {label_text(one[-1])}"
        for one in groups
    )
    return Grouping(tuple(map(tuple, groups)), names)
