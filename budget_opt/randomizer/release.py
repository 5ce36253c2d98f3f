"""What a release is, and how it may be made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from budget_opt.errors import InputError

RowOrder = Literal["shuffle", "public"]


@dataclass(frozen=True)
class Release:
    """A released table: a table of the original's kind, or the path of a file.

    `private` is False where the words were given by the caller: then nothing is guaranteed (R8).
    `rows` is public; nothing else here was computed from the originals.
    """

    table: Any | Path
    columns: tuple[str, ...]
    rows: int
    row_order: RowOrder
    private: bool


def row_order_of(asked: str | None, declared: RowOrder) -> RowOrder:
    """The order that was asked for, else the allocation's; `InputError` for another word."""
    if asked is None:
        return declared
    if asked == "shuffle":
        return "shuffle"
    if asked == "public":
        return "public"
    raise InputError(
        f'row_order: is {asked!r}, must be "shuffle" or "public" (the order of the rows reveals nothing).'
    )
