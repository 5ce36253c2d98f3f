"""The types of a data frame's columns: categories that a type declares, never those that cells have.

pandas, polars and pyarrow are told by what their types look like; none of them is imported for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from budget_opt.codebooks.column import Column, advice_for
from budget_opt.errors import InputError
from budget_opt.model.arguments import as_list

_DERIVED = (
    "a pandas categorical type may have its categories from the data, as astype('category') makes them: take "
    "them for a domain only if they were declared, and say so in the problem's provenance"
)


def columns_of_types(source: Any) -> list[Column]:
    """The columns of a data frame, of its schema, or of a mapping from names to types; no cell is read.

    Raises `InputError` for anything else.
    """
    for schema in _schemas(source):
        if callable(getattr(schema, "items", None)):
            return [_column(str(name), kind) for name, kind in schema.items()]
        if hasattr(schema, "names") and hasattr(schema, "types"):
            pairs = zip(schema.names, schema.types, strict=True)
            return [_column(str(name), kind) for name, kind in pairs]
    raise InputError(
        f"{type(source).__name__} is no codebook. Give the path of one, a data frame of pandas or polars, or "
        "its schema."
    )


def _schemas(source: Any) -> Iterator[Any]:
    """What may hold the types: of pandas frames, polars frames, pyarrow tables, or a schema itself."""
    if callable(collect := getattr(source, "collect_schema", None)):
        yield collect()
    yield getattr(source, "dtypes", None)
    yield getattr(source, "schema", None)
    # the types of a pandas frame are a series; any other series is data
    if not hasattr(source, "dtype") or all(hasattr(kind, "kind") for kind in as_list(source) or [source]):
        yield source


def _column(name: str, kind: Any) -> Column:
    word = _word(kind)
    if word in ("Categorical", "dictionary"):
        return Column(
            name,
            why_not=f"of type {word}, whose categories come from the cells",
            advice="state its categories (polars: as an Enum), release it as a public column, or drop it",
        )
    if word.lower() in ("bool", "boolean"):
        return Column(name, (False, True))
    categories = getattr(kind, "categories", None)
    if word not in ("Enum", "category") or categories is None:
        why_not = f"of type {word}, which declares no categories"
        return Column(name, why_not=why_not, advice=advice_for(word))
    notes = (_DERIVED,) if word == "category" else ()
    return Column(name, _listed(categories), ordered=getattr(kind, "ordered", False) is True, notes=notes)


def _listed(categories: Iterable[Any]) -> tuple[Any, ...]:
    """The categories as Python's own values."""
    to_list = getattr(categories, "to_list", None) or getattr(categories, "tolist", None)
    return tuple(to_list() if callable(to_list) else categories)


def _word(kind: Any) -> str:
    """The name of a type, never its whole text: that of a categorical type lists its categories."""
    if isinstance(kind, type):
        return kind.__name__
    if type(kind).__module__.startswith("pyarrow"):
        return str(kind).partition("<")[0]
    name = getattr(kind, "name", None)
    return name.partition("<")[0] if isinstance(name, str) else type(kind).__name__
