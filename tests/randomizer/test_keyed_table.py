"""Tables in memory under a kept key: one release, however often it is made. R10, R15, R33, R34, R35."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.randomizer.keyed_release import KeyedRows
from budget_opt.randomizer.table import randomize_table
from tests.randomizer.keyed_cells import release_under

Survey = Callable[[int], pa.Table]
RELEASE = release_under(bytes(range(32)))


@pytest.mark.parametrize("row_id", [None, "person"])
def test_r34_a_second_run_gives_the_same_table_and_another_number_another(
    row_id: str | None, allocation: bo.Allocation, survey: Survey
) -> None:
    table = survey(300)
    first, second = (bo.randomize(table, allocation, release=RELEASE, row_id=row_id) for _ in range(2))
    assert first.equals(second)
    other = release_under(bytes(range(32)), number=2)
    assert not first.equals(bo.randomize(table, allocation, release=other, row_id=row_id))
    assert not first.equals(bo.randomize(table, allocation))


def test_r34_named_by_ids_the_rows_may_stand_in_any_order(allocation: bo.Allocation, survey: Survey) -> None:
    table = survey(300)
    shuffled = table.take(pa.array(np.random.default_rng(5).permutation(300)))
    first, second = (
        bo.randomize(one, allocation, release=RELEASE, row_id="person") for one in (table, shuffled)
    )
    assert first.to_pylist() == second.to_pylist()
    kept = bo.randomize(table, allocation, "public", release=RELEASE, row_id="person")
    assert kept.to_pylist() != first.to_pylist()
    assert sorted(map(str, kept.to_pylist())) == sorted(map(str, first.to_pylist()))


def test_r15_the_order_of_a_keyed_release_says_nothing_of_the_originals(
    allocation: bo.Allocation, survey: Survey
) -> None:
    """10,000 rows: their rank correlation with the original order is below 0.062 but for one in 10^9 keys."""
    waves = pa.array([f"{row:05}" for row in range(10_000)])
    table = survey(10_000)
    table = table.set_column(table.schema.get_field_index("wave"), "wave", waves)
    for row_id in (None, "person"):
        order = bo.randomize(table, allocation, release=bo.KeyedRelease("survey"), row_id=row_id)["wave"]
        ranks = np.array(order.to_pylist(), dtype=np.int64)
        assert sorted(ranks.tolist()) == list(range(10_000))
        assert abs(np.corrcoef(ranks, np.arange(10_000))[0, 1]) < 0.062


@pytest.mark.parametrize("make", [lambda table: table.to_pandas(), pl.from_arrow, lambda table: table])
def test_ids_of_every_kind_of_table_name_the_same_rows(
    make: Callable[[pa.Table], Any], allocation: bo.Allocation, survey: Survey
) -> None:
    table = survey(100)
    ids = pa.array(np.arange(100) * 10**17)
    integers = table.set_column(table.schema.get_field_index("person"), "person", ids)
    texts = table.set_column(table.schema.get_field_index("person"), "person", ids.cast(pa.string()))
    released = [
        bo.randomize(make(one), allocation, "public", release=RELEASE, row_id="person")["city"]
        for one in (integers, texts)
    ]
    wanted = bo.randomize(integers, allocation, "public", release=RELEASE, row_id="person")[
        "city"
    ].to_pylist()
    for column in released:
        assert (column.to_pylist() if hasattr(column, "to_pylist") else list(column)) == wanted


def test_r35_ids_that_stand_twice_are_refused_with_the_rows_and_without_the_ids(
    allocation: bo.Allocation, survey: Survey
) -> None:
    table = survey(50)
    people = table["person"].to_pylist()
    people[7] = people[40] = people[3]
    table = table.set_column(table.schema.get_field_index("person"), "person", pa.array(people))
    with pytest.raises(bo.DataError, match=r"3 of them share an id .*rows 3, 7, 40; ") as told:
        bo.randomize(table, allocation, release=RELEASE, row_id="person")
    assert (told.value.column, told.value.count, told.value.rows) == ("person", 3, (3, 7, 40))
    assert "CANARY" not in str(told.value)
    assert len(bo.randomize(table, allocation, release=RELEASE)) == 50


def test_r10_missing_ids_are_told_together_with_bad_cells(allocation: bo.Allocation, survey: Survey) -> None:
    table = survey(5).to_pandas()
    table.loc[2, "person"] = None
    table.loc[3, "size"] = 9
    with pytest.raises(bo.DataError) as told:
        bo.randomize(table, allocation, release=RELEASE, row_id="person")
    assert "'person': missing, and names no row: 1 cell (row 2)" in str(told.value)
    assert "'size'" in str(told.value)


def test_the_id_column_must_be_dropped_or_public_and_there(allocation: bo.Allocation, survey: Survey) -> None:
    table = survey(5)
    with pytest.raises(bo.DataError, match="dropped in the problem"):
        bo.randomize(table, allocation, release=RELEASE, row_id="city")
    with pytest.raises(bo.DataError, match="no such column"):
        bo.randomize(table.drop_columns("person"), allocation, release=RELEASE, row_id="person")
    public = table.set_column(
        table.schema.get_field_index("wave"), "wave", pa.array(["a", "b", "c", "d", "e"])
    )
    released = bo.randomize(public, allocation, release=RELEASE, row_id="wave")
    assert sorted(released["wave"].to_pylist()) == ["a", "b", "c", "d", "e"]


def test_a_row_id_without_a_release_and_what_is_no_release_are_refused(
    allocation: bo.Allocation, survey: Survey
) -> None:
    with pytest.raises(bo.InputError, match="row_id: names the rows of a keyed release, and none is given"):
        bo.randomize(survey(5), allocation, row_id="person")
    with pytest.raises(bo.InputError, match="release: is a str, must be a KeyedRelease"):
        bo.randomize(survey(5), allocation, release="survey")


def test_r8_a_keyed_release_is_private(allocation: bo.Allocation, survey: Survey) -> None:
    assert randomize_table(survey(5), allocation, keyed=KeyedRows(RELEASE)).private


def test_the_index_of_a_data_frame_has_no_part_in_its_positions(
    allocation: bo.Allocation, survey: Survey
) -> None:
    table = survey(20).to_pandas()
    indexed = table.set_axis(np.arange(100, 120))
    first, second = (bo.randomize(one, allocation, release=RELEASE) for one in (table, indexed))
    pd.testing.assert_frame_equal(first, second)
