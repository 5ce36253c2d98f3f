"""Counts as a JSON document, so that parts counted on several machines can be added up (DESIGN 3)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.releases.count_checks import LARGEST_BYTES
from budget_opt.estimators.releases.counting import Counts
from budget_opt.model.documents import format_faults
from budget_opt.model.values import LARGEST_INTEGER

FORMAT: Final = "budget-opt/counts"
VERSION: Literal[1] = 1
_FIELDS = {
    "format",
    "version",
    "attributes",
    "randomized_as",
    "shape",
    "rows",
    "weights",
    "squares",
    "weighted_by",
}
_MOST_AXES = 64  # numpy's own limit
_DECIMAL = re.compile("[1-9][0-9]{0,18}")


def document_of(counts: Counts) -> dict[str, Any]:
    """The counts as plain values; cells in the order of the axes, the last one fastest."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "attributes": list(counts.attributes),
        "randomized_as": list(counts.randomized_as),
        "shape": list(counts.rows.shape),
        "rows": [n if n <= LARGEST_INTEGER else str(n) for n in counts.rows.reshape(-1).tolist()],
        "weights": None if counts.weights is None else counts.weights.reshape(-1).tolist(),
        "squares": None if counts.squares is None else counts.squares.reshape(-1).tolist(),
        "weighted_by": counts.weighted_by,
    }


def counts_of_document(document: Mapping[str, Any]) -> Counts:
    """The counts of a parsed document; `InputError` for another format, other fields, and other sizes."""
    if not isinstance(document, Mapping):
        raise InputError(
            f"counts: is a {type(document).__name__}, must be an object that Counts.to_dict made."
        )
    if isinstance(document.get("version"), float):
        raise InputError(f"counts: version must be the whole number {VERSION}.")
    if faults := format_faults(document, FORMAT, VERSION):
        raise InputError.from_faults(faults, "the counts")
    if other := _FIELDS.symmetric_difference(document):
        raise InputError(
            f"counts: the fields {sorted(map(str, other))} are missing, or are none of this format."
        )
    attributes, shape = document["attributes"], document["shape"]
    if not isinstance(attributes, list) or not all(isinstance(name, str) for name in attributes):
        raise InputError("counts: attributes must be a list of names.")
    if not isinstance(shape, list) or not all(type(r) is int and r >= 1 for r in shape):
        raise InputError("counts: shape must list the number of categories of every attribute.")
    if len(shape) > _MOST_AXES or 8 * math.prod(shape) > LARGEST_BYTES:
        raise InputError(
            f"counts: shape must have at most {_MOST_AXES} axes and {LARGEST_BYTES // 8:,} cells. Count fewer"
            " attributes."
        )
    rows = np.array([_whole(count) for count in _cells(document, "rows", shape)], dtype=object).reshape(shape)
    randomized_as = document["randomized_as"]
    if not isinstance(randomized_as, list) or not all(isinstance(text, str) for text in randomized_as):
        raise InputError("counts: randomized_as must be a list of texts, one an attribute, or empty.")
    weights, squares = (_doubles(document, name, shape) for name in ("weights", "squares"))
    weighted_by = document["weighted_by"]
    if weighted_by is not None and not isinstance(weighted_by, str):
        raise InputError("counts: weighted_by must be the name of a column, or null.")
    return Counts(tuple(attributes), rows, weights, squares, tuple(randomized_as), weighted_by=weighted_by)


def _cells(document: Mapping[str, Any], field: str, shape: list[int]) -> list[Any]:
    cells = document[field]
    if not isinstance(cells, list) or len(cells) != math.prod(shape):
        raise InputError(f"counts: {field} must list {math.prod(shape):,} numbers, one a cell of the shape.")
    return cells


def _whole(count: object) -> object:
    """A decimal string as the integer that it is; anything else as it is, for `Counts` to judge."""
    return int(count) if isinstance(count, str) and _DECIMAL.fullmatch(count) else count


def _doubles(document: Mapping[str, Any], field: str, shape: list[int]) -> Any:
    if document[field] is None:
        return None
    cells = _cells(document, field, shape)
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in cells):
        raise InputError(f"counts: {field} must be numbers, one a cell.")
    return np.array(cells, dtype=object).reshape(shape)  # `Counts` judges how large they are
