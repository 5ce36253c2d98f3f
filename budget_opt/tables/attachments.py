"""What a table has beside its cells: an index, attributes, metadata, unused categories (R15).

Allowed is only what names types: what pandas, polars, Spark and Arrow themselves note of the columns when
they write a Parquet file, read word by word. Any other key, and any other word, is an attachment. Of a
column of categories the type may list declared labels only, of a public column what its rows have.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import parquet

Labels = Mapping[str, Collection[object]]

_UNUSED = "categories that are not declared, or that no row has"
_NUMBER = re.compile(r"-?\d{1,9}")
_VERSION = re.compile(r"\d+(\.[0-9a-z]+){0,4}(\+[0-9]{1,6})?")
_TYPE = re.compile(r"[A-Za-z0-9_\[\](), :/+.-]{0,60}")
_CATEGORICAL = re.compile(r"\d{0,9};\d{0,9};u(8|16|32);")
_PANDAS_KEYS = {"index_columns", "column_indexes", "columns", "attributes", "creator", "pandas_version"}
_COLUMN_KEYS = {"name", "field_name", "pandas_type", "numpy_type", "metadata"}
_SPARK_KEYS = {"name", "type", "nullable", "metadata"}


def attachments(source: Any, labels: Labels) -> list[str]:
    """What is attached to a table or file that can be read here, in words without any value.

    `labels` are the declared labels of the attributes, which a type may list.
    """
    if isinstance(source, str | Path):
        found = _of_path(Path(source), labels)
    elif isinstance(source, pa.Table | pa.RecordBatch):
        found = chain(_of_schema(source.schema, source.num_rows, labels), _of_dictionaries(source, labels))
    elif nw.dependencies.is_pandas_dataframe(source):
        found = _of_pandas(source, labels)
    else:
        found = iter(())
    return list(dict.fromkeys(found))


def _of_pandas(frame: Any, labels: Labels) -> Iterator[str]:
    index = frame.index
    counts = index.dtype.kind in "iu" and np.array_equal(index.to_numpy(), np.arange(len(frame)))
    if not counts or list(index.names) != [None]:
        yield "an index that is not the default one (call reset_index(drop=True))"
    if frame.attrs:
        yield "attrs"
    if list(frame.columns.names) != [None]:
        yield "a name of its columns"
    for name, dtype in frame.dtypes.items():
        listed = getattr(dtype, "categories", None)
        if listed is not None and not _values(listed) <= _known(name, labels, frame[name]):
            yield _UNUSED


def _of_dictionaries(table: pa.Table | pa.RecordBatch, labels: Labels) -> Iterator[str]:
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            if any(not _values(chunk.dictionary) <= _known(name, labels, column) for chunk in chunks):
                yield _UNUSED


def _known(name: str, labels: Labels, column: Any) -> set[object]:
    """What the type of a column may list: the declared labels, of a public column its own values."""
    return set(labels[name]) if name in labels else _values(column.unique())


def _values(column: Any) -> set[object]:
    """The values of a column or an index; those that have no hash by their text."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else column
    return {repr(value) if isinstance(value, list | dict) else value for value in values}


def _of_path(path: Path, labels: Labels) -> Iterator[str]:
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.name[0] not in "._"]
        for file in files:
            yield from _of_path(file, labels)
    elif path.name.lower().endswith(".parquet"):
        with parquet.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
            yield from _of_schema(schema.with_metadata(file.metadata.metadata), rows, labels)
            yield from _of_schema(schema, rows, labels)


def _of_schema(schema: pa.Schema, rows: int, labels: Labels) -> Iterator[str]:
    for key, value in (schema.metadata or {}).items():
        if not _is_harmless(key, value, schema, rows, labels):
            yield "metadata of the schema"
    for field in schema:
        if not _field_is_harmless(field, labels.get(field.name, ())):
            yield "metadata of a column"


def _is_harmless(key: bytes, value: bytes, schema: pa.Schema, rows: int, labels: Labels) -> bool:
    try:
        if key == b"ARROW:schema":
            inner = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(value, validate=True)))
            return inner.names == schema.names and not list(_of_schema(inner, rows, labels))
        if key == b"pandas":
            return _names_types(json.loads(value), schema.names, rows)
        if key == b"org.apache.spark.version":
            return _VERSION.fullmatch(value.decode()) is not None
        if key == b"org.apache.spark.sql.parquet.row.metadata":
            return _names_spark_types(json.loads(value), schema.names)
    except (ValueError, binascii.Error, pa.ArrowException, AttributeError, TypeError, KeyError):
        pass
    return False


def _names_types(document: dict[str, Any], names: list[str], rows: int) -> bool:
    """Whether what pandas notes is a default index, and names and types of columns."""
    counted = {"kind": "range", "name": None, "start": 0, "stop": rows, "step": 1}
    creator = document.get("creator", {"library": "pandas", "version": "0"})
    return (
        document.keys() <= _PANDAS_KEYS
        and document["index_columns"] in ([], [counted])
        and document.get("attributes", {}) == {}
        and creator.keys() == {"library", "version"}
        and creator["library"] in ("pyarrow", "pandas", "fastparquet", "dask")
        and all(_VERSION.fullmatch(of) for of in (creator["version"], document.get("pandas_version", "0")))
        and all(_is_of_column(one, [None]) for one in document.get("column_indexes", []))
        and all(_is_of_column(one, names) for one in document["columns"])
    )


def _is_of_column(one: dict[str, Any], names: Collection[str | None]) -> bool:
    more = one.get("metadata") or {}
    return (
        one.keys() <= _COLUMN_KEYS
        and all(one.get(key, next(iter(names))) in names for key in ("name", "field_name"))
        and all(_TYPE.fullmatch(one.get(key, "")) for key in ("pandas_type", "numpy_type"))
        and more.keys() <= {"num_categories", "ordered", "timezone", "encoding", "precision", "scale"}
        and all(_NUMBER.fullmatch(str(more.get(key, 0))) for key in ("num_categories", "precision", "scale"))
        and type(more.get("ordered", False)) is bool
        and more.get("encoding", "UTF-8") == "UTF-8"
        and _TYPE.fullmatch(more.get("timezone", "")) is not None
    )


def _names_spark_types(document: dict[str, Any], names: list[str]) -> bool:
    """Whether what Spark notes is no more than the names and plain types of the columns."""
    fields = document["fields"]
    return (
        document.keys() == {"type", "fields"}
        and document["type"] == "struct"
        and [field["name"] for field in fields] == names
        and all(field.keys() == _SPARK_KEYS and field["metadata"] == {} for field in fields)
        and all(_TYPE.fullmatch(field["type"]) and type(field["nullable"]) is bool for field in fields)
    )


def _field_is_harmless(field: pa.Field, labels: Collection[object]) -> bool:
    for key, value in (field.metadata or {}).items():
        text = value.decode(errors="replace")
        allowed = (
            (key == b"PARQUET:field_id" and _NUMBER.fullmatch(text))
            or (key == b"_PL_CATEGORICAL2" and _CATEGORICAL.fullmatch(text))
            or (key == b"_PL_ENUM_VALUES2" and _lists_labels(text, labels))
        )
        if not allowed:
            return False
    inner = range(field.type.num_fields) if pa.types.is_nested(field.type) else ()
    return all(_field_is_harmless(field.type.field(i), ()) for i in inner)


def _lists_labels(text: str, labels: Collection[object]) -> bool:
    """Whether polars lists declared labels, each as its number of bytes, a semicolon and itself."""
    known, left = {str(label).encode() for label in labels}, text.encode()
    while left:
        size, _, left = left.partition(b";")
        if not size.isdigit() or left[: int(size)] not in known:
            return False
        left = left[int(size) :]
    return True
