"""Metadata in JSON or YAML: objects and lists where the standard has them, files that it refers to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from budget_opt.codebooks.column import shown
from budget_opt.errors import InputError
from budget_opt.model.documents import read_mapping


def objects(document: Mapping[str, Any], field: str, path: Path) -> list[Mapping[str, Any]]:
    """The objects in a list of the standard; raises `InputError` where there are none."""
    items = document.get(field)
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise InputError(f"{path}: {field} must be a list of objects, at least one. Correct the codebook.")
    return items


def part(document: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """An object that may be left out; what is none counts as left out."""
    found = document.get(field)
    return found if isinstance(found, dict) else {}


def referred(document: Mapping[str, Any], field: str, path: Path) -> Mapping[str, Any]:
    """An object, or the one in the file beside `path` that the field names; raises `InputError`."""
    found = document.get(field)
    if isinstance(found, dict):
        return found
    if not isinstance(found, str):
        raise InputError(f"{path}: has no {field}, which describes the columns. Add it.")
    place = PurePosixPath(found)
    if ":" in found or place.is_absolute() or ".." in place.parts:
        raise InputError(f"{path}: {field} is at {found!r}. Save it beside this file, and name it here.")
    return read_mapping(path.parent / place, InputError)


def chosen(
    tables: Sequence[Mapping[str, Any]], field: str, wanted: str | None, path: Path
) -> Mapping[str, Any]:
    """The only table of a document, or the wanted one by its name in `field`; raises `InputError`."""
    names = [str(table.get(field, "")) for table in tables]
    listed = ", ".join(map(shown, names))
    if wanted is None:
        if len(tables) == 1:
            return tables[0]
        raise InputError(f"{path}: describes {len(tables)} tables, {listed}. Choose one by name.")
    if names.count(wanted) != 1:
        raise InputError(f"{path}: has no table {wanted!r}; it has {listed}. Choose one of them.")
    return tables[names.index(wanted)]


def column_name(stated: object, path: Path) -> str:
    """The name of a column as text; raises `InputError`."""
    if not isinstance(stated, str) or not stated:
        raise InputError(f"{path}: has a column without a name. Name it as in the table's header.")
    return stated


def integer(stated: object) -> int | None:
    """A whole number, also one that is written as text; None for anything else."""
    if isinstance(stated, int) and not isinstance(stated, bool):
        return stated
    try:
        return int(stated) if isinstance(stated, str) else None
    except ValueError:
        return None
