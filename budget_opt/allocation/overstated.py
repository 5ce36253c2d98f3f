"""Doubles of a file that promise more than the exact numbers behind them.

Of a stated double the last digits may differ from what is recomputed (`model.differences`), but only to the
private and modest side: a loss may be a little larger and a retention a little smaller, never the other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from budget_opt.allocation.allocation import Allocation
from budget_opt.errors import Fault

_REMEDY = "It is rounded to the wrong side; the file was changed."


def overstated(document: Mapping[str, Any], allocation: Allocation) -> list[Fault]:
    """Every stated loss (or share of changed cells) below the exact one, and every retention above it."""
    return [
        Fault(where, stated, f"must be at {'least' if is_cost else 'most'} {exactly!r}", _REMEDY)
        for where, stated, exactly, is_cost in _figures(document, allocation)
        if (stated < exactly if is_cost else stated > exactly)
    ]


def _figures(document: Mapping[str, Any], allocation: Allocation) -> Iterator[tuple[str, float, float, bool]]:
    """(field, stated, recomputed, whether more of it is worse for privacy)."""
    yield "spent_epsilon", document["spent_epsilon"], allocation.spent_epsilon, True
    privacy = document["privacy"]
    yield "privacy.loss", privacy["loss"], allocation.loss, True
    if privacy.get("planned_loss") is not None:
        yield "privacy.planned_loss", privacy["planned_loss"], allocation.planned_loss, True
    for i, (stated, attribute) in enumerate(zip(document["attributes"], allocation.attributes, strict=True)):
        yield f"attributes[{i}].loss", stated["loss"], attribute.loss, True
        if attribute.has_retention:
            yield f"attributes[{i}].retention", stated["retention"], attribute.retention, False
        if attribute.distortion is not None:
            yield f"attributes[{i}].distortion", stated["distortion"], attribute.distortion, True
    for i, (stated, block) in enumerate(zip(document["clusters"], allocation.clusters, strict=True)):
        yield f"clusters[{i}].loss", stated["loss"], block.loss, True
        yield f"clusters[{i}].retention", stated["retention"], block.retention, False
    for k, (stated, moment) in enumerate(zip(document["moments"], allocation.moments, strict=True)):
        yield f"moments[{k}].retention", stated["retention"], moment.retention, False
