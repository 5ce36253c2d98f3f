"""What an allocation file declares of an attribute: the categories of its reports, and their background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from budget_opt.errors import MISSING
from budget_opt.model import values
from budget_opt.model.backgrounds.background import Weights, background, require_shares
from budget_opt.model.backgrounds.released import released_weights
from budget_opt.model.domain import Domain, declared_domain
from budget_opt.model.groupings.grouping import Grouping, grouping_of, merged
from budget_opt.model.labels import declared_labels
from budget_opt.model.values import UnfitError
from budget_opt.randomizer.local.stated import Stated, items, one_of, unless_none

DECLARED_FIELDS = frozenset(
    {"categories", "bins", "scores", "ordered", "marginal", "missing", "missing_score", "other", "grouping"}
)


@dataclass(frozen=True)
class DeclaredTerms:
    """The categories of a report, and the whole weights of their background; None for the uniform one."""

    domain: Domain
    background: Weights | None


def declared_in(stated: Stated) -> DeclaredTerms | None:
    """The declaration in an object of the list of attributes; None where something is wrong with it."""
    categories = stated.take("categories", unless_none(values.categories))
    bins = stated.take("bins", unless_none(values.edges))
    missing = stated.take("missing", one_of("error", "category")) == "category"
    other = stated.take("other", unless_none(values.label))
    grouping = stated.take("grouping", unless_none(grouping_of))
    if stated.sound and (categories is None) == (bins is None):
        why = UnfitError("exactly one must be given", "Give one of the two")
        stated.tell("categories, bins", MISSING, why)
    if not stated.sound:
        return None

    def domain(merging: Grouping | None) -> Domain:
        return declared_domain(categories, bins, missing=missing, other=other, grouping=merging)

    fine = stated.made("other", lambda: domain(None))
    released = None if fine is None else stated.made("grouping", lambda: domain(grouping))
    if fine is None or released is None:
        return None
    merger = None
    if grouping is not None:
        merger = merged(grouping, declared_labels(categories, bins), bins, missing=missing)
    marginal = stated.take("marginal", unless_none(_shares(fine.cardinality)))
    asked = stated.take("background", background)
    if asked is None:
        return None
    return stated.made(
        "background",
        lambda: DeclaredTerms(released, released_weights(asked, marginal, fine.cardinality, merger)),
    )


def _shares(count: int) -> Callable[[Any], tuple[float, ...]]:
    """So many shares from 0 to 1 with sum 1, but for rounding."""

    def check(value: Any) -> tuple[float, ...]:
        found = background(items(value))
        if not isinstance(found, tuple):
            raise UnfitError("must be a list of shares", "Give one share a category")
        require_shares(found, count)
        return found

    return check
