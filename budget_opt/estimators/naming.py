"""Names that users type: known and distinct, or refused with the one that may be meant."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable

from budget_opt.errors import InputError

_SHOWN = 20


def hint(name: object, known: Iterable[str]) -> str:
    """The way out for an unknown name: the one that is probably meant, or all that are known."""
    listed = list(known)
    near = difflib.get_close_matches(str(name), listed, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return f"Known are {', '.join(map(repr, listed[:_SHOWN]))}{more}."


def require_known(names: Collection[str], known: Collection[str], what: str) -> None:
    """`InputError` for the first of the names that is not among the known, which are `what`."""
    for name in names:
        if name not in known:
            raise InputError(f"{name!r} is not {what}. {hint(name, known)}")


def require_distinct(names: Collection[str]) -> None:
    """`InputError` unless there is at least one name and none stands twice."""
    if not names:
        raise InputError("attributes: none is named, at least one is needed. Name one or more.")
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"attributes: {name!r} is named {times} times. Name each once.")
