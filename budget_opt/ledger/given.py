"""What callers of a ledger give: checked by name before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from budget_opt.errors import InputError
from budget_opt.ledger.caps import Caps
from budget_opt.ledger.charge import Charge


def caps_given(caps: object) -> Caps:
    """The caps; `InputError` for what is none."""
    if not isinstance(caps, Caps):
        raise InputError(f"caps: is a {type(caps).__name__}. Write Caps(total=5.0, …).")
    return caps


def charge_given(charge: object) -> Charge:
    """The charge; `InputError` for what is none."""
    if not isinstance(charge, Charge):
        raise InputError(f"charge: is a {type(charge).__name__}. Write Charge.of(allocation).")
    return charge


def listed(given: object, where: str) -> list[Any]:
    """What is in a list, or another iterable that is no text; `InputError` for anything else."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{where}: is {given!r}. Give a list.")
    return list(given)


def require_text(text: object, where: str) -> None:
    """`InputError` unless it is one line of text."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable() or len(text) > 1000:
        raise InputError(f"{where}: must be one line of text that is not blank, at most 1000 characters.")
