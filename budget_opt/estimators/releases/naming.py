"""Names that users type: known and distinct, or refused with the one that may be meant."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from budget_opt.errors import InputError

_SHOWN = 20
_LETTERS = 80


def shown(value: object) -> str:
    """What a user typed, as it is told: its beginning where it is long."""
    text = repr(value)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 3]}..."


def require_weight(weight: Any) -> None:
    """`InputError` for weights that are no name, such as a column of numbers itself."""
    if weight is not None and weight is not False and not isinstance(weight, str):
        raise InputError(
            f"weight: is a {type(weight).__name__}, must be the name of a public column of the allocation, "
            'in which the weights of the released table stand: weight="share". None is for the column that '
            "the allocation states, and False for none."
        )


def hint(name: object, known: Iterable[str]) -> str:
    """The way out for an unknown name: the one that is probably meant, or all that are known."""
    listed = list(known)
    near = difflib.get_close_matches(str(name)[:_LETTERS], listed, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return f"Known are {', '.join(map(repr, listed[:_SHOWN]))}{more}."


def require_known(names: Collection[str], known: Collection[str], what: str) -> None:
    """`InputError` for the first of the names that is not among the known, which are `what`."""
    for name in names:
        if name not in known:
            raise InputError(f"{shown(name)} is not {what}. {hint(name, known)}")


def require_distinct(names: Collection[str]) -> None:
    """`InputError` unless there is at least one name and none stands twice."""
    if not names:
        raise InputError("attributes: none is named, at least one is needed. Name one or more.")
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"attributes: {name!r} is named {times} times. Name each once.")
