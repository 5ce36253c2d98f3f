"""CSV on the Web (W3C): columns whose datatype lists or limits the values."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from budget_opt.codebooks.column import Column, advice_for, range_column, shown, unique_column
from budget_opt.codebooks.documents import chosen, column_name, integer, objects, referred

_INTEGERS = {"integer", "int", "long", "short", "byte"} | {
    *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
    *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
}
_ALTERNATIVES = re.compile(r"\^?\(?(?:\?:)?((?:[^\\^$.|?*+()\[\]{}]+\|)+[^\\^$.|?*+()\[\]{}]+)\)?\$?")
"""A regular expression that lists texts: ^(yes|no)$."""


def columns_of_csvw(document: Mapping[str, Any], path: Path, table: str | None) -> list[Column]:
    """The columns of the (only, or named by its url) table of CSVW metadata; raises `InputError`."""
    group = document if "tables" in document else {}
    one = chosen(objects(document, "tables", path), "url", table, path) if group else document
    schema = referred(one, "tableSchema", path)
    columns = [column for column in objects(schema, "columns", path) if column.get("virtual") is not True]
    # datatype, null and required are inherited from the table and from the group of tables
    return [_column(ChainMap(*map(dict, (column, schema, one, group))), column, path) for column in columns]


def _column(known: Mapping[str, Any], own: Mapping[str, Any], path: Path) -> Column:
    name = column_name(_header(own), path)
    if own.get("name") is not None and known.get("primaryKey") in (own["name"], [own["name"]]):
        return unique_column(name)
    missing = known.get("null", [])
    missing = [
        text for text in (missing if isinstance(missing, list) else [missing]) if isinstance(text, str)
    ]
    optional = bool(missing) and known.get("required") is not True
    datatype = known.get("datatype", "string")
    column = _domain(name, datatype if isinstance(datatype, dict) else {"base": datatype}, optional)
    if column.codes and optional:
        return replace(column, missing=tuple(repr(text) for text in missing if text))
    return column


def _header(column: Mapping[str, Any]) -> object:
    """The text of the table's header: the first title in any language, else the name."""
    titles = column.get("titles")
    if isinstance(titles, dict) and titles:
        titles = next(iter(titles.values()))
    if isinstance(titles, list) and titles:
        titles = titles[0]
    return titles or column.get("name")


def _domain(name: str, datatype: Mapping[str, Any], optional: bool) -> Column:
    base, form = datatype.get("base", "string"), datatype.get("format")
    if base == "boolean":
        false_last = form.split("|") if isinstance(form, str) else []
        if len(false_last) == 2 and false_last != ["true", "false"]:
            return Column(name, (false_last[1], false_last[0]), may_be_missing=optional)
        note = "write true or false in a CSV file"
        return Column(name, (False, True), may_be_missing=optional, notes=(note,))
    if base in _INTEGERS:
        low, high = _limit(datatype, "minimum", "min", 1), _limit(datatype, "maximum", "max", -1)
        return range_column(name, low, high, may_be_missing=optional)
    listed = _ALTERNATIVES.fullmatch(form) if isinstance(form, str) and base == "string" else None
    if listed:
        return Column(name, tuple(listed[1].split("|")), may_be_missing=optional)
    why_not = f"of type {shown(base)}, whose values the metadata do not list"
    return Column(name, why_not=why_not, advice=advice_for(base))


def _limit(datatype: Mapping[str, Any], plain: str, short: str, step: int) -> int | None:
    """A limit of the values, which the standard names in three ways."""
    inclusive = integer(datatype.get(plain, datatype.get(f"{short}Inclusive")))
    exclusive = integer(datatype.get(f"{short}Exclusive"))
    return inclusive if exclusive is None else exclusive + step
