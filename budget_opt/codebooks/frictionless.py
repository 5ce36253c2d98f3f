"""Frictionless Table Schema and Data Package (versions 1 and 2): fields with declared values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from budget_opt.codebooks.column import Column, advice_for, range_column, shown, unique_column
from budget_opt.codebooks.documents import chosen, column_name, integer, objects, part, referred
from budget_opt.model.domain import Label

_NUMBERS = ("integer", "year", "number")
_NOT_PLAIN = ("array", "object", "list", "geojson", "geopoint")


def columns_of_frictionless(document: Mapping[str, Any], path: Path, table: str | None) -> list[Column]:
    """The columns of a Table Schema, or of the (only, or named) resource of a Data Package.

    Raises `InputError` for what is neither.
    """
    schema = document
    if "resources" in document:
        schema = referred(chosen(objects(document, "resources", path), "name", table, path), "schema", path)
    return [_column(field, schema, path) for field in objects(schema, "fields", path)]


def _column(field: Mapping[str, Any], schema: Mapping[str, Any], path: Path) -> Column:
    name, kind = column_name(field.get("name"), path), field.get("type", "any")
    constraints = part(field, "constraints")
    if constraints.get("unique") is True or schema.get("primaryKey") in (name, [name]):
        return unique_column(name)
    missing = _texts(field.get("missingValues", schema.get("missingValues")))
    optional = bool(missing) and constraints.get("required") is not True
    column = _domain(name, kind, field, constraints, optional)
    if column.codes and optional:
        return replace(column, missing=tuple(repr(text) for text in missing if text))
    return column


def _domain(
    name: str, kind: object, field: Mapping[str, Any], constraints: Mapping[str, Any], optional: bool
) -> Column:
    stated = field.get("categories", constraints.get("enum"))
    if isinstance(stated, list) and kind not in _NOT_PLAIN:
        return _listed(name, kind, stated, field.get("categoriesOrdered") is True, optional)
    if kind == "boolean":
        return _boolean(name, field, optional)
    if kind == "integer":
        low = _limit(constraints, "minimum", "exclusiveMinimum", 1)
        high = _limit(constraints, "maximum", "exclusiveMaximum", -1)
        return range_column(name, low, high, may_be_missing=optional)
    return Column(
        name, why_not=f"of type {shown(kind)}, without a list of its values", advice=advice_for(kind)
    )


def _listed(name: str, kind: object, stated: list[Any], ordered: bool, optional: bool) -> Column:
    """Values of `enum` or `categories`, which may have labels (version 2)."""
    pairs = [
        (item.get("value"), str(item.get("label", item.get("value"))))
        if isinstance(item, dict)
        else (item, "")
        for item in stated
    ]
    codes = [_typed(value, kind) for value, _ in pairs]
    labels = tuple(label for _, label in pairs) if any(label for _, label in pairs) else ()
    if len(codes) < 2:
        return Column(name, why_not="one declared value only")
    if None in codes:
        return Column(
            name, why_not=f"declared values that are not of type {shown(kind)} or not whole numbers"
        )
    return Column(
        name,
        tuple(code for code in codes if code is not None),
        labels,
        ordered=ordered,
        may_be_missing=optional,
    )


def _typed(value: object, kind: object) -> Label | None:
    """A declared value as the label of a cell of this type; None where there is none."""
    if kind in _NUMBERS:
        return integer(value)
    if kind == "boolean":
        return {"true": True, "false": False}.get(str(value).lower())
    return value if isinstance(value, str) else integer(value)


def _boolean(name: str, field: Mapping[str, Any], optional: bool) -> Column:
    true, false = _texts(field.get("trueValues")), _texts(field.get("falseValues"))
    if len(true) == 1 and len(false) == 1 and {*true, *false}.isdisjoint(("true", "false")):
        return Column(name, (false[0], true[0]), may_be_missing=optional)
    several = "written in several ways: write true or false in a CSV file"
    notes = (several,) if true or false else ("write true or false in a CSV file",)
    return Column(name, (False, True), may_be_missing=optional, notes=notes)


def _limit(constraints: Mapping[str, Any], inclusive: str, exclusive: str, step: int) -> int | None:
    limit = integer(constraints.get(inclusive))
    beyond = integer(constraints.get(exclusive))
    return limit if beyond is None else beyond + step


def _texts(stated: object) -> list[str]:
    """A list of texts, or of objects with a value (version 2); empty for anything else."""
    items = stated if isinstance(stated, list) else []
    values = [item.get("value") if isinstance(item, dict) else item for item in items]
    return [value for value in values if isinstance(value, str)]
