"""Caps as people type them: income=2, and "health=smoker,drinks:1.5"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from budget_opt.errors import InputError
from budget_opt.ledger.caps import Caps

T = TypeVar("T")

NO_CAP = "none"
"""What takes a cap away."""


def attribute_caps(stated: Sequence[str]) -> dict[str, float | None]:
    """Of each attribute its cap, None for none; `InputError` for what cannot be read."""
    found: dict[str, float | None] = {}
    for text in stated:
        name, equals, cap = text.rpartition("=")
        if not equals or not name.strip():
            raise InputError(f"--attribute {text}: must be like income=2, its name and the epsilon in nats.")
        found[_new(found, name.strip(), "--attribute")] = _number(cap, f"--attribute {text}")
    return found


def group_caps(stated: Sequence[str]) -> dict[str, tuple[tuple[str, ...], float] | None]:
    """Of each group its members and its cap, None for none; `InputError` for what cannot be read."""
    found: dict[str, tuple[tuple[str, ...], float] | None] = {}
    for text in stated:
        name, equals, rest = text.partition("=")
        members, colon, cap = rest.rpartition(":")
        if equals and rest.strip() == NO_CAP:
            found[_new(found, name.strip(), "--group")] = None
            continue
        number = _number(cap, f"--group {text}") if colon else None
        if not name.strip() or number is None:
            raise InputError(
                f'--group {text}: must be like "health=smoker,drinks:1.5", its name, the attributes and the '
                "epsilon in nats."
            )
        listed = tuple(member.strip() for member in members.split(","))
        found[_new(found, name.strip(), "--group")] = (listed, number)
    return found


def new_caps(
    total: float, attributes: Sequence[str], groups: Sequence[str], others: Mapping[str, Any]
) -> Caps:
    """The caps of a new data set; `others` are the fields of `Caps` that were given."""
    given = {name: value for name, value in others.items() if value is not None}
    return Caps(
        total=total,
        attributes=_without_none(attribute_caps(attributes)),
        groups=_without_none(group_caps(groups)),
        **given,
    )


def changed_caps(
    before: Caps, attributes: Sequence[str], groups: Sequence[str], others: Mapping[str, Any]
) -> Caps:
    """The caps with what was given in the place of what was there, and the rest as it was."""
    given = {name: value for name, value in others.items() if value is not None}
    return replace(
        before,
        attributes=_without_none({**before.attributes, **attribute_caps(attributes)}),
        groups=_without_none({**before.groups, **group_caps(groups)}),
        **given,
    )


def _without_none(stated: Mapping[str, T | None]) -> dict[str, T]:
    return {name: value for name, value in stated.items() if value is not None}


def _new(found: Mapping[str, object], name: str, option: str) -> str:
    if name in found:
        raise InputError(f"{option} {name}: is given twice. Give it once.")
    return name


def _number(text: str, where: str) -> float | None:
    if text.strip() == NO_CAP:
        return None
    try:
        if "_" in text:  # Python reads 1_0 as 10
            raise ValueError(text)
        return float(text)
    except ValueError:
        raise InputError(f"{where}: {text.strip()!r} is not a number of nats. Write it like 1.5.") from None
