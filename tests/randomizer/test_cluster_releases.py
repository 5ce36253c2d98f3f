"""Releases with a cluster: the original columns come back, from tables, files and batches.

R3, R5, R10, R15, R34, R36.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.errors import DataError
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
from budget_opt.randomizer.resuming.replay import replay
from budget_opt.randomizer.table import randomize_table
from budget_opt.randomizer.words import SeededWords
from budget_opt.tables import reading
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.reading import open_file, read_codes
from tests.randomizer.clustered import CLUSTER, COLUMNS, SHAPE, allocation, table
from tests.randomizer.keyed_cells import release_under
from tests.randomizer.test_resumable_files import Kept, StopError

ALLOCATION = allocation()
DOMAINS = {one.name: one.domain for one in ALLOCATION.attributes}
KEY = bytes(range(32))


def joint(given: Any, *, released: bool) -> np.ndarray:
    """The joint codes of the cluster's columns, by numpy."""
    domains = {name: ALLOCATION[name].domain for name in CLUSTER}
    codes = read_codes(given, domains, released=released)
    return np.ravel_multi_index([codes[name].astype(np.int64) for name in CLUSTER], SHAPE)


KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda made: made.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "table": lambda made: made,
}


@pytest.mark.parametrize("kind", KINDS)
def test_r15_the_members_come_back_as_their_own_columns_in_the_tables_order(kind: str) -> None:
    released = bo.randomize(KINDS[kind](table(500)), ALLOCATION)
    assert type(released) is type(KINDS[kind](table(1)))
    assert tuple(released.column_names if kind == "table" else released.columns) == COLUMNS
    assert "CANARY" not in str(released)


def test_r3_under_zero_words_every_row_has_the_next_joint_code(zero_words) -> None:
    original = table(1000)
    released = randomize_table(original, ALLOCATION, row_order="public", words=zero_words).table
    expected = (joint(original, released=False) + 1) % int(np.prod(SHAPE))
    assert np.array_equal(joint(released, released=True), expected)


def test_a_release_of_a_cluster_passes_its_verification_against_the_originals() -> None:
    original = table(20_000)
    released = bo.randomize(original, ALLOCATION, row_order="public")
    bo.verify_release(ALLOCATION, original=original, released=released, false_alarm=1e-9).require()


def test_r36_a_cluster_without_a_budget_is_left_out_whole_and_comes_whole_when_asked_for() -> None:
    empty = allocation(0.0)
    original = table(4000)
    assert randomize_table(original, empty).columns == ("wave", "region")
    whole = randomize_table(original, empty, include_empty=True, row_order="public", words=SeededWords(1))
    assert whole.columns == COLUMNS
    # the same words and other members: what is reported looks at none of them
    turned = original.set_column(3, "smoker", pa.array(["no"] * 4000))
    again = randomize_table(turned, empty, include_empty=True, row_order="public", words=SeededWords(1))
    assert again.table.equals(whole.table)
    counts = np.bincount(joint(whole.table, released=True), minlength=int(np.prod(SHAPE)))
    assert counts.min() > 0


@pytest.mark.parametrize("name", CLUSTER)
def test_a_table_without_one_of_the_members_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    part = table(10).drop_columns([name])
    with pytest.raises(DataError, match=f"has no column '{name}'") as caught:
        bo.randomize(part, ALLOCATION)
    assert caught.value.column == name
    with pytest.raises(DataError, match=f"has no column '{name}'"):
        BatchRandomizer(part.schema, ALLOCATION, KeyedRelease("survey"), row_id="id")
    part.to_pandas().to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(DataError, match=f"has no column '{name}'"):
        bo.randomize_file(tmp_path / "data.csv", ALLOCATION, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_r10_faulty_cells_of_members_are_told_by_column_and_row_and_never_by_value(
    write_table, tmp_path
) -> None:
    spoilt = table(10).set_column(3, "smoker", pa.array(["no"] * 9 + ["CANARY-cell"]))
    spoilt = spoilt.set_column(5, "income", pa.array([0] * 4 + [77] + [1] * 5))
    for refused in (
        lambda: bo.randomize(spoilt, ALLOCATION),
        lambda: bo.randomize_file(
            write_table(spoilt, tmp_path / "data.parquet"), ALLOCATION, tmp_path / "out.parquet"
        ),
    ):
        with pytest.raises(DataError) as caught:
            refused()
        said = str(caught.value)
        assert "'smoker'" in said
        assert "'income'" in said
        assert "CANARY" not in said
        assert "77" not in said
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("order", ["shuffle", "public"])
@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data"])
def test_r34_files_batches_and_tables_give_the_same_keyed_release(
    name: str, order: str, write_table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamed in batches of 70 rows, in memory, and batch by batch wherever: cell for cell the same."""
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=70))
    original, release = table(1000), release_under(KEY)
    source = write_table(original, tmp_path / name, row_group_size=300)
    target = tmp_path / ("out.csv" if name == "data.csv" else "out.parquet")
    randomize_file(source, ALLOCATION, target, FileOptions(row_order=order, release=release, row_id="id"))
    whole = randomize_table(original, ALLOCATION, row_order=order, keyed=KeyedRows(release, "id")).table
    expected = read_codes(whole, DOMAINS, released=True)
    there = open_file(target)
    assert there.names == COLUMNS
    streamed = read_codes(target, DOMAINS, released=True)
    assert all(np.array_equal(streamed[one], expected[one]) for one in DOMAINS)
    batches = BatchRandomizer(original.schema, ALLOCATION, release, row_id="id")
    parts = [batches.with_order_keys(batch) for batch in original.to_batches(max_chunksize=49)]
    together = pa.Table.from_batches(parts)
    if order == "shuffle":
        together = together.sort_by([(key, "ascending") for key in batches.order_columns])
    codes = read_codes(together.select(list(COLUMNS)), DOMAINS, released=True)
    assert all(np.array_equal(codes[one], expected[one]) for one in DOMAINS)


def test_r5_r34_a_record_with_one_changed_member_changes_its_own_reports_only(tmp_path: Path) -> None:
    original, release = table(2000), release_under(KEY)
    incomes = original.column("income").to_pylist()
    incomes[1234] = (incomes[1234] + 1) % 5
    changed = original.set_column(5, "income", pa.array(incomes))
    first, second = (
        randomize_table(one, ALLOCATION, row_order="public", keyed=KeyedRows(release, None)).table
        for one in (original, changed)
    )
    differing = {
        row
        for name in COLUMNS
        for row in range(2000)
        if first[name][row].as_py() != second[name][row].as_py()
    }
    assert differing <= {1234}


def test_resuming_a_release_with_a_cluster_gives_the_rows_of_an_undisturbed_one(
    write_table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ParquetSource", functools.partial(ParquetSource, batch_rows=70))
    source, release = (
        write_table(table(1000), tmp_path / "data.parquet", row_group_size=300),
        release_under(KEY),
    )
    options = FileOptions(row_order="public", release=release)
    randomize_file(source, ALLOCATION, tmp_path / "whole.parquet", options)
    kept = Kept(tmp_path / "spool")

    def stop(rows: int, share: float) -> None:
        if rows > 400:
            raise StopError

    interrupted = replace(options, checkpoints=kept, progress=stop)
    with closing(kept), pytest.raises(StopError):
        randomize_file(source, ALLOCATION, tmp_path / "out.parquet", interrupted)
    done = kept.saved[-1][0]
    assert 300 < done < 1000
    with closing(kept):
        randomize_file(source, ALLOCATION, tmp_path / "out.parquet", replace(options, checkpoints=kept))
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    seen: list[dict[str, Any]] = []
    replay(source, ALLOCATION, release, done, lambda codes, reports: seen.append(dict(reports)))
    whole = read_codes(parquet.read_table(tmp_path / "whole.parquet"), DOMAINS, released=True)
    assert all(
        np.array_equal(np.concatenate([part[one] for part in seen]), whole[one][:done]) for one in DOMAINS
    )
