"""Merged categories in words: what is released of them, what that leaves of a moment, and what is assumed.

One home for these words, so that a retention that counts merging (assumed, `groupings.detail`) is never taken
for that of the merged categories (proved), nor an estimate of these for one of the declared categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from budget_opt.model.attribute import Attribute
from budget_opt.model.declared import Declared
from budget_opt.model.labels import label_text
from budget_opt.tables.printing import percent

if TYPE_CHECKING:
    from budget_opt.allocation.allocation import AllocatedMoment

RETENTION = "retention"
WITH_MERGING = "retention (with merging)"
"""What retentions are called of which some count what merging leaves."""
AS_RELEASED = "retention of\nreleased categories"
"""The heading of retentions that leave merging out."""
OF_MERGED = "of the merged categories"
"""What a retention is of that leaves merging out."""
STRAIGHT = "straight regressions on the scores that are merged"
"""What the share that merging leaves of a moment rests on."""
ALIKE = "that moments lose as all category indicators together do"
"""The same where the categories have no scores."""
ASSUMED = "assumed, not proved"


def retention_heading(moments: Iterable[AllocatedMoment]) -> str:
    """What the retentions of these moments are called, which count what merging leaves."""
    return WITH_MERGING if any(moment.detail < 1 for moment in moments) else RETENTION


def is_merged(declared: Declared) -> bool:
    """True where a report tells fewer categories than are declared."""
    return declared.cardinality < declared.declared_cardinality


def categories_told(declared: Declared) -> str:
    """The categories of a report: [10, 50), [50, 90]."""
    return ", ".join(map(label_text, declared.domain.labels))


def merged_told(declared: Declared) -> str:
    """Of which categories reports are, by the first and the last: of the merged categories A to E."""
    first, last = declared.domain.labels[0], declared.domain.labels[-1]
    return f"{OF_MERGED} {label_text(first)} to {label_text(last)}"


def estimate_notes(attributes: Iterable[Declared]) -> tuple[str, ...]:
    """What every estimate with such attributes says: of which categories it is."""
    return tuple(
        f"{OF_MERGED} of {one.name} ({one.cardinality:,} of {one.declared_cardinality:,} declared): how "
        "those that were merged differ was not released, and no interval here covers it"
        for one in attributes
        if is_merged(one)
    )


def grouping_sentences(attributes: Iterable[Attribute]) -> list[str]:
    """What the chosen groupings leave of each score, and on what that rests."""
    return [
        f"{one.name} is released as {one.cardinality:,} of {one.declared_cardinality:,} categories, which "
        f"leave {percent(float(one.detail))} of {variance_told(one)} by "
        f"{'the stated marginal' if one.marginal else 'equal shares, as no marginal is stated'}. Retentions "
        f"of moments count that: {ASSUMED} ({_assumption([one])}). Estimates are {OF_MERGED}, and state the "
        "retention of these"
        for one in attributes
        if is_merged(one)
    ]


def variance_told(attribute: Attribute) -> str:
    """What a share is of that merging leaves: of the score's variance, or what stands for it."""
    if has_scores(attribute):
        return "its score's variance"
    return "the variance of its category indicators (it has no scores)"


def product_told(kept: Fraction, attributes: Sequence[Attribute]) -> str:
    """Both parts of a retention: exact product 0.58, x 0.8 of the variance of d's score: assumed, ..."""
    lossy = [one for one in attributes if one.detail < 1]
    if not lossy:
        return "exact product"
    parts = ", ".join(
        f"x {float(one.detail):.4g} of the variance of {one.name}'s "
        f"{'score' if has_scores(one) else 'category indicators'}"
        for one in lossy
    )
    return f"exact product {float(kept):.4g}, {parts}: {ASSUMED} ({_assumption(lossy)})"


def has_scores(attribute: Attribute) -> bool:
    """True where the declared categories have scores, whatever is merged."""
    return attribute.with_fields(grouping=None).score_values is not None


def _assumption(attributes: Sequence[Attribute]) -> str:
    scored = {has_scores(one) for one in attributes}
    return " and ".join(told for told, holds in ((STRAIGHT, True), (ALIKE, False)) if holds in scored)
