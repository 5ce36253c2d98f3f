"""A column of another type than its declared categories: the message shows both, by the declared labels."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.model.domain import Kind, Label
from budget_opt.tables.types import shown_type

Held = Literal["text", "integers", "booleans", "floating-point numbers"]

_SHOWN_LABELS = 6
_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")

_ASKED = {
    "text": ("text", 'a text type, for instance with pandas astype("string")'),
    "integer": ("integers", 'an integer type, for instance with pandas astype("Int64")'),
    "boolean": ("booleans", 'a boolean type, for instance with pandas astype("boolean")'),
    "bins": ("bins of numbers", "an integer, floating or decimal type"),
}
_CASTS: dict[tuple[Held, Kind], str] = {
    ("text", "integer"): 'astype("Int64")',
    ("integers", "text"): 'astype("string")',
    ("integers", "boolean"): 'astype("boolean")',
    ("floating-point numbers", "text"): 'astype("Int64").astype("string")',
    ("floating-point numbers", "boolean"): 'astype("boolean")',
    ("booleans", "integer"): 'astype("Int64")',
}
"""What turns a column into the declared labels in pandas; without an entry there is no such cast."""


def type_fault(given: pa.DataType, kind: Kind, labels: Sequence[Label], name: str) -> DataError:
    """The error of column `name` of type `given`, whose declared categories are of another `kind`.

    Where every label has a counterpart in the column's type, one is shown in both, and the categories
    as they would have to be declared. Labels are the problem's own: no cell is shown.
    """
    held = _held(given)
    if held is None or kind == "bins":
        meaning, target = _ASKED[kind]
        said = (
            f"column {name!r} is of type {shown_type(given)}, and its declared categories are {meaning}. "
            f"Cast the column to {target}, or declare the categories in the type of the column."
        )
    else:
        said = (
            f"column {name!r}: the column holds {held} ({given}), the categories are declared as "
            f"{_ASKED[kind][0]}{_difference(held, kind, labels)}"
        )
    return DataError(said, column=name)


def _difference(held: Held, kind: Kind, labels: Sequence[Label]) -> str:
    twins = [twin for label in labels if (twin := _twin(label, held)) is not None]
    if len(twins) < len(labels):
        return (
            f" such as {_json(labels[0])}. Declare the categories as they stand in the column, or replace "
            "the cells by the declared categories."
        )
    shown = f"{_json(twins[0])}.0" if held == "floating-point numbers" else _json(twins[0])
    cast = _CASTS.get((held, kind))
    way_out = f"cast the column, for instance with pandas {cast}" if cast else "replace the cells by these"
    return f": {shown} is not {_json(labels[0])}. Declare categories {_listed(twins)}, or {way_out}."


def _held(given: pa.DataType) -> Held | None:
    """What the cells of a plain type are, None for what no label can be."""
    if given in {pa.string(), pa.large_string(), pa.string_view()}:
        return "text"
    if pa.types.is_integer(given):
        return "integers"
    if pa.types.is_boolean(given):
        return "booleans"
    return "floating-point numbers" if pa.types.is_floating(given) else None


def _twin(label: Label, held: Held) -> Label | None:
    """The label as the column's type has it, None where it has none."""
    if held == "text":
        return _json(label)
    if held == "booleans":
        return {"true": True, "false": False, 1: True, 0: False}.get(label)
    if isinstance(label, str):
        return int(label) if _PLAIN_INTEGER.fullmatch(label) else None
    return int(label)


def _listed(labels: Sequence[Label]) -> str:
    """As in a problem's file, cut where they are many."""
    shown = [_json(label) for label in labels[:_SHOWN_LABELS]]
    return f"[{', '.join([*shown, '...'] if len(labels) > len(shown) else shown)}]"


def _json(label: Label) -> str:
    return json.dumps(label, ensure_ascii=False)
