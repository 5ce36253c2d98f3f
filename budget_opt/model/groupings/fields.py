"""The fields of an attribute that merge its categories: the chosen grouping, and candidates for `design`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from budget_opt.model.arguments import ordered_list
from budget_opt.model.groupings.grouping import Grouping, grouping_of
from budget_opt.model.groupings.hierarchies import groupings_of_tree
from budget_opt.model.values import UnfitError

MOST_CANDIDATES = 1000

_MEMBERS: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["string", "integer", "boolean", "null"]},
    "minItems": 1,
    "uniqueItems": True,
}
_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": _MEMBERS, "minItems": 2},
        {"type": "object", "additionalProperties": _MEMBERS, "minProperties": 2},
    ]
}
GroupingField = Annotated[
    Grouping, BeforeValidator(grouping_of), PlainSerializer(Grouping.to_json), WithJsonSchema(_SCHEMA)
]
"""Lists of categories, or an object from the names of merged categories to lists."""


def _candidates(value: object) -> tuple[Grouping, ...]:
    if isinstance(value, Grouping):
        return (value,)
    listed = [value] if isinstance(value, Mapping) else ordered_list(value)
    if listed is None:
        raise UnfitError("must be a list of groupings, or one hierarchy", _WAY_OUT)
    found: list[Grouping] = []
    for item in listed:
        levels = (item,) if isinstance(item, Grouping) else groupings_of_tree(item)
        if not levels:
            raise UnfitError("must be a list of groupings, each lists of categories", _WAY_OUT)
        found += levels
    if not 0 < len(found) <= MOST_CANDIDATES:
        raise UnfitError(
            f"must be from 1 to {MOST_CANDIDATES:,} groupings", "Give those that are worth trying"
        )
    return tuple(dict.fromkeys(found))


_WAY_OUT = 'Give for instance [[["a", "b"], ["c"]]], or an object of objects such as regions and their towns'

GroupingsField = Annotated[
    tuple[GroupingField, ...],
    BeforeValidator(_candidates),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": ["array", "object"]}, "minItems": 1},
                {"type": "object"},
            ]
        }
    ),
]
"""Candidates for `design`: groupings, or trees of which every level is one."""
