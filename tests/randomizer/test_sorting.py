"""Sorting on disk is sorting in memory, whatever the limits, the batches and the types."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.model.moments.moment import Unit
from budget_opt.randomizer import sorting
from budget_opt.randomizer.drawing import OrderKeys
from budget_opt.randomizer.held import HeldRows
from budget_opt.randomizer.plan import Plan
from budget_opt.randomizer.sorting import KEY_FIELDS, Sorter
from budget_opt.randomizer.spool import Spool, unnamed_spool

SCHEMA = pa.schema([*KEY_FIELDS, ("number", pa.int64())])


@contextmanager
def limits(waiting: int, bucket: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "WAITING_BYTES", waiting)
        patch.setattr(sorting, "BUCKET_BYTES", bucket)
        yield


def sorted_numbers(keys: OrderKeys, folder: Path, step: int) -> tuple[list[int], int]:
    """The numbers of the rows in ascending order of their keys, and how many spools were made."""
    opened: list[Spool] = []

    @contextmanager
    def new_spool(schema: pa.Schema) -> Iterator[Spool]:
        with unnamed_spool(schema, folder) as spool:
            opened.append(spool)
            yield spool

    found: list[int] = []
    with new_spool(SCHEMA) as spool:
        sorter = Sorter(spool, new_spool)
        for start in range(0, len(keys), step):
            part = keys[start : start + step]
            halves = [np.ascontiguousarray(part[:, i]) for i in (0, 1)]
            numbers = np.arange(start, start + len(part))
            sorter.add(pa.RecordBatch.from_arrays([*map(pa.array, (*halves, numbers))], schema=SCHEMA))
        for bucket in sorter.buckets():
            held = np.concatenate([batch.column(2).to_numpy() for batch in bucket.batches])
            found += held[bucket.order].tolist()
    return found, len(opened)


few_words = st.sampled_from([0, 1, 255, 256, 2**56, 2**56 + 1, 2**63, 2**64 - 1])


@given(
    st.lists(st.tuples(few_words, few_words), max_size=60),
    st.sampled_from([1, 100, 2**24]),
    st.sampled_from([1, 600, 2**26]),
    st.integers(1, 20),
)
def test_rows_stand_as_if_all_keys_were_sorted_at_once_and_equal_ones_as_they_came(
    tmp_path_factory: pytest.TempPathFactory,
    words: list[tuple[int, int]],
    waiting: int,
    bucket: int,
    step: int,
) -> None:
    keys = np.array(words, dtype=np.uint64).reshape(-1, 2)
    with limits(waiting, bucket):
        found, _ = sorted_numbers(keys, tmp_path_factory.getbasetemp(), step)
    assert found == np.lexsort((keys[:, 0], keys[:, 1])).tolist()


def test_uniform_keys_are_sorted_through_several_levels_of_buckets(tmp_path: Path) -> None:
    keys = np.random.default_rng(1).integers(0, 2**64, (20_000, 2), dtype=np.uint64)
    with limits(2**14, 2**12):
        found, spools = sorted_numbers(keys, tmp_path, 1000)
    assert found == np.lexsort((keys[:, 0], keys[:, 1])).tolist()
    assert spools > 1
    assert list(tmp_path.iterdir()) == []


def test_few_rows_are_sorted_in_memory(tmp_path: Path) -> None:
    keys = np.random.default_rng(1).integers(0, 2**64, (1000, 2), dtype=np.uint64)
    with unnamed_spool(SCHEMA, tmp_path) as spool:
        sorter = Sorter(spool, functools.partial(unnamed_spool, folder=tmp_path))
        columns = [*np.ascontiguousarray(keys.T), np.arange(1000)]
        assert not sorter.add(pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=SCHEMA))
        (bucket,) = sorter.buckets()
        assert spool.length == 0
    assert bucket.order.tolist() == np.lexsort((keys[:, 0], keys[:, 1])).tolist()


def test_all_keys_equal_end_with_the_last_byte(tmp_path: Path) -> None:
    with limits(1, 1):
        found, spools = sorted_numbers(np.full((5, 2), 7, dtype=np.uint64), tmp_path, 2)
    assert found == [0, 1, 2, 3, 4]
    assert spools == 16


TEXTS = [None, "", 'é, "x"\r\n', "long enough for a view of its own"]
COLUMNS: dict[str, pa.Array] = {
    "null": pa.nulls(4),
    "bool": pa.array([True, None, False, True]),
    "int8": pa.array([1, None, -3, 4], pa.int8()),
    "uint64": pa.array([2**64 - 1, 0, None, 1], pa.uint64()),
    "float16": pa.array(np.array([1.5, 2, 3, 4], dtype=np.float16)),
    "double": pa.array([1.5, None, float("inf"), -0.0]),
    "decimal": pa.array([Decimal("1.20"), None, Decimal("3.00"), Decimal("-4.10")], pa.decimal128(9, 2)),
    "date": pa.array([date(2020, 1, 1), None, date(1999, 1, 1), date(2026, 1, 1)]),
    "timestamp": pa.array([0, None, -(10**15), 10**15]).cast(pa.timestamp("us", "Europe/Lisbon")),
    "duration": pa.array([timedelta(1), None, timedelta(2), timedelta(3)]),
    "interval": pa.array([(1, 2, 3), None, (0, 0, 0), (4, 5, 6)], pa.month_day_nano_interval()),
    "string": pa.array(TEXTS, pa.string()),
    "large_string": pa.array(TEXTS, pa.large_string()),
    "string_view": pa.array(TEXTS, pa.string_view()),
    "binary": pa.array([b"a", None, b"", b"\xff"], pa.binary()),
    "binary_view": pa.array([b"a", None, b"", b"\xff" * 20], pa.binary_view()),
    "fixed": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([bytes([i]) * 16 for i in range(4)], pa.binary(16))
    ),
    "dictionary": pa.array(["b", None, "a", "b"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("waiting", [1, 2**24])
def test_public_columns_of_every_flat_type_come_back(tmp_path: Path, kind: str, waiting: int) -> None:
    column = COLUMNS[kind]
    values = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    original = pa.record_batch({"x": column})
    held = HeldRows(Plan(("x",), {}, Unit()), original.schema, with_keys=True)
    keys = np.array([[3, 0], [0, 9], [2, 0], [1, 0]], dtype=np.uint64)
    parts: list[Any] = []
    new_spool = functools.partial(unnamed_spool, folder=tmp_path)
    with limits(waiting, 1), new_spool(held.schema) as spool:
        sorter = Sorter(spool, new_spool)
        for start in (0, 1):
            rows = slice(start, None if start else 1)
            sorter.add(held.batch({}, original.slice(start, None if start else 1), keys[rows]))
        for bucket in sorter.buckets():
            parts += held.released(bucket.batches, bucket.order)
    released = pa.chunked_array([part.column(0) for part in parts])
    assert released.type == values.type
    expected = [values[i] for i in (3, 2, 0, 1)]
    assert [scalar.as_py() for scalar in released] == [scalar.as_py() for scalar in expected]
