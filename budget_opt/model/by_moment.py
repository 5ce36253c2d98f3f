"""A number for every moment, or one for each of those that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from budget_opt.errors import Fault, InputError
from budget_opt.model.moment import CrossMoment
from budget_opt.model.parts import nearest

ByMoment = float | Mapping[Any, float] | None
"""One number for all moments, or numbers by attributes, ("smoker", "income"), or label, "smoker x income"."""


def by_moment(moments: Sequence[CrossMoment], given: Any, what: str) -> list[Any]:
    """`given` for each moment, None where nothing is given; the values themselves are not looked at.

    A mapping names a moment by its attributes, in any order, or by its label; one attribute by its name.
    Raises `InputError` with every name that is no moment's; `what` is the argument's name.
    """
    found: list[Any] = [None] * len(moments)
    if not isinstance(given, Mapping):
        return [given] * len(moments)
    places: dict[object, int] = {frozenset(moment.attributes): k for k, moment in enumerate(moments)}
    places |= {moment.label: k for k, moment in enumerate(moments)}
    faults = []
    for name, value in given.items():
        place = places.get(name if isinstance(name, str) else _names(name))
        if place is None:
            faults.append(_unknown(name, value, moments, what))
        else:
            found[place] = value
    if faults:
        raise InputError.from_faults(faults, what)
    return found


def _names(name: object) -> frozenset[str]:
    parts = name if isinstance(name, tuple | list | frozenset) else ()
    return frozenset(part for part in parts if isinstance(part, str))


def _unknown(name: object, value: object, moments: Sequence[CrossMoment], what: str) -> Fault:
    label = name if isinstance(name, str) else " x ".join(sorted(_names(name))) or repr(name)
    labels = [moment.label for moment in moments]
    near = nearest(label, labels)
    hint = f"Did you mean {near!r}?" if near else f"Moments are {', '.join(labels) or 'none'}."
    return Fault(f"{what} of {label}", value, "is not of a moment of the problem", hint)
