"""Columns of a codebook as attributes, and what must be said about each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from budget_opt.codebooks.codebook import Codebook, OtherColumn
from budget_opt.codebooks.column import STATE, Column
from budget_opt.errors import InputError
from budget_opt.model.attribute import Attribute

Released = Literal["codes", "labels"]
"""What the cells of the table hold: the codes of the codebook, or their labels."""

_RESERVED = re.compile(r"-[0-9]+|[789]|9+[789]")
"""Codes that surveys often keep for refused, unknown and the like: -9, 9 after a gap, 98, 997."""

_EMPTY = (
    'an empty cell is an error where no missing answer is declared: add "missing": "category" to the '
    "attributes that may have some"
)


def codebook_of(source: str, columns: Iterable[Column], released: Released, notes: Iterable[str]) -> Codebook:
    """The attributes of all columns with a declared domain, the others, and the notes on both."""
    attributes: list[Attribute] = []
    others: list[OtherColumn] = []
    said: dict[str, list[str]] = {}
    for column in columns:
        made = _attribute(column, released)
        if isinstance(made, OtherColumn):
            others.append(made)
            continue
        attributes.append(made)
        for note in _notes(column, made):
            said.setdefault(note, []).append(column.name)
    every = [*notes, *(f"{', '.join(names)}: {note}" for note, names in said.items())]
    if any(attribute.missing == "error" for attribute in attributes):
        every.append(_EMPTY)
    return Codebook(source, tuple(attributes), tuple(others), tuple(every))


def _attribute(column: Column, released: Released) -> Attribute | OtherColumn:
    if not column.codes:
        return OtherColumn(column.name, column.why_not, column.advice)
    fields: dict[str, Any] = {"categories": column.labels if _by_label(column, released) else column.codes}
    if column.ordered:
        fields["ordered"] = True
    if column.may_be_missing:
        fields["missing"] = "category"
        if column.ordered:
            fields["missing_score"] = (len(column.codes) - 1) / 2
    try:
        return Attribute(column.name, **fields)
    except InputError as failure:
        why = "; ".join(f"{fault.where} {fault.limit}" for fault in failure.faults)
        return OtherColumn(column.name, why, STATE)


def _by_label(column: Column, released: Released) -> bool:
    return released == "labels" and bool(column.labels)


def _notes(column: Column, attribute: Attribute) -> Iterator[str]:
    yield from column.notes
    if column.missing:
        yield (
            f"{', '.join(column.missing)} declared missing: leave such cells empty in the table; they are "
            "randomized as a category of their own"
        )
    if attribute.missing_score is not None:
        yield f"the score of a missing answer is assumed to be the middle, {attribute.missing_score:g}"
    reserved = list(_reserved(column))
    if reserved:
        yield (
            f"{', '.join(reserved)} may stand for a missing answer, which no codebook tells: if so, take "
            'it out of the categories, leave such cells empty, and add "missing": "category"'
        )


def _reserved(column: Column) -> Iterator[str]:
    """Codes, with their labels, that look like those of missing answers."""
    known = {str(code) for code in column.codes}
    labels = column.labels or ("",) * len(column.codes)
    for code, label in zip(column.codes, labels, strict=True):
        text = str(code)
        follows = text.isdecimal() and str(int(text) - 1) in known
        if _RESERVED.fullmatch(text) and not (follows and len(text) == 1):
            yield f"{text} {label!r}" if label else text
