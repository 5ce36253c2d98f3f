"""A file is read from any row on, without reading more of a Parquet file than its row groups: R26."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from budget_opt.tables import parquet_files
from budget_opt.tables.csv_files import CsvSource
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.source import FileSource, without_first

ROWS = 57


def rows_after(source: FileSource, skip: int) -> list[Any]:
    batches = list(source.batches(["a"], skip))
    assert all(batch.num_rows for batch in batches)
    assert source.share() == 1.0
    return [int(row["a"]) for batch in batches for row in batch.to_pylist()]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 4), max_size=6), st.integers(0, 30))
def test_the_first_rows_are_left_out_of_any_batches(sizes: Sequence[int], skip: int) -> None:
    numbers = iter(range(100))
    batches = [pa.record_batch({"a": pa.array([next(numbers) for _ in range(n)], pa.int64())}) for n in sizes]
    left = [row["a"] for batch in without_first(iter(batches), skip) for row in batch.to_pylist()]
    assert left == list(range(sum(sizes)))[skip:]


@pytest.mark.parametrize("skip", [0, 1, 9, 10, 11, 20, 56, 57, 58, 1000])
def test_rows_are_skipped_in_every_kind_of_file(tmp_path: Path, skip: int) -> None:
    text = ("a,b\n" + "".join(f"{i},x\n" for i in range(ROWS))).encode()
    (tmp_path / "t.csv").write_bytes(text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text))
    parquet.write_table(pa.table({"a": range(ROWS)}), tmp_path / "t.parquet", row_group_size=10)
    sources = (
        CsvSource(tmp_path / "t.csv", block_bytes=64),
        CsvSource(tmp_path / "t.csv.gz", block_bytes=64),
        ParquetSource(tmp_path / "t.parquet", batch_rows=7),
    )
    for source in sources:
        assert rows_after(source, skip) == list(range(ROWS))[skip:]


def test_row_groups_that_are_skipped_as_a_whole_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": range(ROWS)}), path, row_group_size=10, write_page_checksum=True)
    chunk = parquet.read_metadata(path).row_group(1).column(0)
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    path.write_bytes(content)
    assert rows_after(ParquetSource(path), 20) == list(range(20, ROWS))
    assert rows_after(ParquetSource(path), 33) == list(range(33, ROWS))


def test_r26_batches_of_wide_tables_have_few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": range(ROWS), "b": [f"{i} {'x' * 100}" for i in range(ROWS)]}), path)

    def sizes(*columns: str) -> set[int]:
        return {batch.num_rows for batch in ParquetSource(path).batches(columns)}

    assert sizes("a", "b") == {ROWS}
    monkeypatch.setattr(parquet_files, "BATCH_CELLS", 19 * 2)
    assert (sizes("a", "b"), sizes("a")) == ({19}, {38, 19})
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 1000)
    assert max(sizes("a")) < 10
    assert rows_after(ParquetSource(path), 11) == list(range(11, ROWS))
