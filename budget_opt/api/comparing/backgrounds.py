"""What the backgrounds of several splits cost and keep, where they differ (DESIGN 2.1).

Letters: lambda the implemented retention, p the shares of the categories, q the background. Of the same
epsilon a background leaves the less the rarer its rarest category is; the released shares are lambda p + (1 -
lambda) q in expectation, which is p where q = p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.allocation import AllocatedAttribute, Allocation
from budget_opt.allocation.show import background_told
from budget_opt.mechanisms.exact import exact
from budget_opt.model.attribute import Attribute
from budget_opt.model.distortion import distortion
from budget_opt.tables.printing import percent
from budget_opt.tables.wide import Column, WideTable


@dataclass(frozen=True)
class ComparedBackground:
    """One attribute under every split, in their order.

    `effective` is the effective cardinality 1 / min q, from which the price follows. `moved` is the largest
    expected change of a category's share by the release, None where no shares are stated; `changed` the
    expected share of changed cells, which without shares is that of the worst case.
    """

    attribute: str
    told: tuple[str, ...]
    effective: tuple[float, ...]
    retentions: tuple[float, ...]
    moved: tuple[float | None, ...]
    changed: tuple[float, ...]


def with_background_of(attribute: Attribute, stated: Attribute) -> Attribute:
    """The attribute with the background of another, and the marginal that this refers to."""
    has_source = attribute.source is not None or stated.source is not None
    if has_source or attribute.background_weights == stated.background_weights:
        return attribute
    refers = isinstance(stated.background, tuple) or stated.background == "uniform"
    marginal = attribute.marginal if refers else stated.marginal
    return attribute.with_fields(background=stated.background, marginal=marginal)


def compared_backgrounds(allocations: Sequence[Allocation]) -> tuple[ComparedBackground, ...]:
    """A row for each attribute whose background is not the same under all splits."""
    columns = zip(*(_in_order(allocation, allocations[0]) for allocation in allocations), strict=True)
    return tuple(_compared(column) for column in columns if _differ(column))


def _in_order(allocation: Allocation, first: Allocation) -> list[AllocatedAttribute]:
    return [allocation[attribute.name] for attribute in first.attributes]


def _differ(column: Sequence[AllocatedAttribute]) -> bool:
    """True where they are told in other words, or differ on the same categories."""
    if not all(one.has_retention for one in column):
        return False
    categories = {one.domain.identity for one in column}
    found = {(one.domain.identity, one.declared.background_weights) for one in column}
    return len(found) > len(categories) or len({background_told(one.declared) for one in column}) > 1


def _compared(column: Sequence[AllocatedAttribute]) -> ComparedBackground:
    known = {one.domain.identity: one.declared.shares for one in reversed(column) if one.declared.shares}
    return ComparedBackground(
        attribute=column[0].name,
        told=tuple(background_told(one.declared) for one in column),
        effective=tuple(one.declared.effective_cardinality for one in column),
        retentions=tuple(one.retention for one in column),
        moved=tuple(_moved(one, known.get(one.domain.identity)) for one in column),
        changed=tuple(float(distortion(one.declared, one.exact_retention)) for one in column),
    )


def _moved(attribute: AllocatedAttribute, shares: Sequence[float] | None) -> float | None:
    """(1 - lambda) max |p - q|."""
    if shares is None:
        return None
    weights = attribute.declared.background_weights or (1,) * attribute.cardinality
    believed, whole = [exact(share) for share in shares], sum(weights)
    total = sum(believed, Fraction(0))
    apart = max(abs(p / total - Fraction(q, whole)) for p, q in zip(believed, weights, strict=True))
    return float((1 - attribute.exact_retention) * apart)


def caution_of(compared: Sequence[ComparedBackground], names: Sequence[str]) -> list[str]:
    """That the splits replace cells by other distributions, and what that means; none where they do not."""
    if not compared:
        return []
    listed = "; ".join(
        f"{one.attribute}: "
        + ", ".join(f"{told} in {name}" for name, told in zip(names, one.told, strict=True))
        for one in compared
    )
    caution = (
        f"the splits draw replaced cells from other backgrounds ({listed}). Each is judged with its own: of "
        "the same epsilon a background keeps the less the rarer its rarest category is, and moves the "
        "released shares towards itself"
    )
    return [caution]


def background_table(compared: Sequence[ComparedBackground], names: Sequence[str]) -> WideTable:
    """What every background costs and keeps, five rows an attribute."""
    labels = [
        f"{one.attribute}: {what}"
        for one in compared
        for what in ("replaced by", "effective categories", "retention", "shares move by", "cells changed")
    ]
    columns = [
        Column(name, [cell for one in compared for cell in _cells(one, i)]) for i, name in enumerate(names)
    ]
    return WideTable(Column("background of", labels), columns)


def _cells(one: ComparedBackground, i: int) -> tuple[str, ...]:
    moved = one.moved[i]
    return (
        one.told[i],
        f"{one.effective[i]:.4g}",
        percent(one.retentions[i]),
        "-" if moved is None else percent(moved),
        percent(one.changed[i]),
    )
