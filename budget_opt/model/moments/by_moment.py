"""A number for every moment, or one for each of those that are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from budget_opt.errors import Fault, InputError
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.parts import nearest

ByMoment = float | Mapping[Any, float] | None
"""One number for all moments, or numbers by attributes, ("smoker", "income"), or label, "smoker x income"."""


def by_moment(moments: Sequence[CrossMoment], given: Any, what: str) -> list[Any]:
    """`given` for each moment, None where nothing is given; the values themselves are not looked at.

    A mapping names a moment by its attributes, in any order, or by its label; one attribute by its name.
    Raises `InputError` with every name that is no moment's or, because of what attributes are called, that
    of several, and where a moment is named twice; `what` is the argument's name.
    """
    found: list[Any] = [None] * len(moments)
    if not isinstance(given, Mapping):
        return [given] * len(moments)
    names: dict[int, object] = {}
    faults = []
    for name, value in given.items():
        fitting = _places(name, moments)
        if not fitting:
            faults.append(_unknown(name, value, moments, what))
        elif len(fitting) > 1:
            faults.append(_ambiguous(name, value, [moments[k] for k in fitting], what))
        elif fitting[0] in names:
            faults.append(_repeated(name, value, names[fitting[0]], what))
        else:
            found[fitting[0]] = value
            names[fitting[0]] = name
    if faults:
        raise InputError.from_faults(faults, what)
    return found


def told_apart(moments: Sequence[CrossMoment]) -> list[str]:
    """The labels, numbered where two moments have the same because of what their attributes are called."""
    labels = [moment.label for moment in moments]
    often = Counter(labels)
    return [f"{label} (moment {k})" if often[label] > 1 else label for k, label in enumerate(labels, start=1)]


def _places(name: object, moments: Sequence[CrossMoment]) -> list[int]:
    """Where the moments stand that a name may mean."""
    if isinstance(name, str):
        return [k for k, moment in enumerate(moments) if moment.label == name]
    members = _names(name)
    return [k for k, moment in enumerate(moments) if sorted(moment.attributes) == members]


def _names(name: object) -> list[str]:
    """Attributes in order; none where a part is no text."""
    parts = name if isinstance(name, tuple | list | frozenset) else ()
    return sorted(parts) if all(isinstance(part, str) for part in parts) else []


def _ambiguous(name: object, value: object, fitting: Sequence[CrossMoment], what: str) -> Fault:
    ways = " or ".join(str(moment.attributes) for moment in fitting)
    return Fault(f"{what} of {name}", value, "is the label of several moments", f"Name one as {ways}.")


def _repeated(name: object, value: object, before: object, what: str) -> Fault:
    return Fault(f"{what} of {name}", value, f"is given already as {before!r}", "Name each moment once.")


def _unknown(name: object, value: object, moments: Sequence[CrossMoment], what: str) -> Fault:
    label = name if isinstance(name, str) else " x ".join(_names(name)) or repr(name)
    labels = [moment.label for moment in moments]
    near = nearest(label, labels)
    hint = f"Did you mean {near!r}?" if near else f"Moments are {', '.join(labels) or 'none'}."
    return Fault(f"{what} of {label}", value, "is not of a moment of the problem", hint)
