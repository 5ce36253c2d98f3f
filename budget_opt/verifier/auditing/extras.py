"""What comes back beside the declared columns: other columns, an index of rows, words in the schema.

Each of them leaves the house with the reports, and can carry the truths in clear. A made-up table has none
of them, so its names may be told.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from budget_opt.tables.source import listed
from budget_opt.verifier.report import Check

_SOURCE = "a release holds the columns of the allocation and nothing else"
_INDEX, _ATTRIBUTES = "an index of the rows", "attributes of the data frame"
_METADATA = "metadata of the schema"
_OF_PANDAS = b"pandas"
_OF_PARQUET = b"PARQUET:field_id"


class Extras:
    """Collects, call by call, what came back beside the declared columns."""

    def __init__(self) -> None:
        self._columns: dict[str, None] = {}
        self._others: dict[str, None] = {}

    def add(self, returned: Any, names: Sequence[str], declared: Collection[str]) -> None:
        """Look at one answer, a table with these columns; `declared` are those that it may have."""
        self._columns |= dict.fromkeys(name for name in names if name not in declared)
        self._others |= dict.fromkeys(_beside_columns(returned))

    def checks(self) -> Iterator[Check]:
        """Whether nothing came back but the columns of the allocation."""
        columns, others = list(self._columns), list(self._others)
        claim = "returns columns that the allocation does not release"
        named = f"{claim}: {listed(columns)}" if columns else claim
        yield Check(named, len(columns), 0, not columns, _SOURCE, kind="tested")
        claim = "returns more than columns"
        named = f"{claim}: {', '.join(others)}" if others else claim
        yield Check(named, len(others), 0, not others, _SOURCE, kind="tested")


def _beside_columns(returned: Any) -> Iterator[str]:
    if isinstance(returned, pa.Table | pa.RecordBatch):
        if not _plain(returned.schema, returned.num_rows):
            yield _METADATA
    elif type(returned).__module__.partition(".")[0] == "pandas":
        if not _numbered(returned.index):
            yield _INDEX
        if returned.attrs:
            yield _ATTRIBUTES


def _numbered(index: Any) -> bool:
    """Whether an index of pandas has no names and holds the numbers of the rows, as that of the records."""
    if any(name is not None for name in index.names) or index.nlevels != 1:
        return False
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


def _plain(schema: pa.Schema, rows: int) -> bool:
    """Whether a schema has no metadata but what pandas writes of a table with numbered rows."""
    if any(set(field.metadata or {}) - {_OF_PARQUET} for field in schema):
        return False
    metadata = dict(schema.metadata or {})
    of_pandas = metadata.pop(_OF_PANDAS, None)
    return not metadata and (of_pandas is None or _plain_pandas(of_pandas, rows))


def _plain_pandas(text: bytes, rows: int) -> bool:
    """Columns that hold an index are columns of the table, and found there."""
    try:
        said = json.loads(text)
    except ValueError:
        return False
    if not isinstance(said, Mapping) or said.get("attributes"):
        return False
    numbered = {"kind": "range", "name": None, "start": 0, "stop": rows, "step": 1}
    return all(isinstance(index, str) or index == numbered for index in said.get("index_columns", []))
