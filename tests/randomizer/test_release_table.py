"""Releases of tables in memory: R3, R5, R6, R8, R10-R12, R15, R16, R33, R35, R36."""

from __future__ import annotations

import dataclasses
import logging
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import Allocation, uniform
from budget_opt.errors import DataError, InputError, RandomSourceError
from budget_opt.model.attribute import Attribute
from budget_opt.model.problem import Problem
from budget_opt.randomizer import drawing
from budget_opt.randomizer.drawing import SingleUse, ascending
from budget_opt.randomizer.kernel import CHUNK_CELLS
from budget_opt.randomizer.row_names import positions
from budget_opt.randomizer.table import randomize_table
from budget_opt.randomizer.words import SecureWords, SeededWords
from budget_opt.tables.reading import read_codes

Survey = Callable[[int], pa.Table]
EvenSplit = Callable[..., Allocation]

KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "table": lambda table: table,
    "batch": lambda table: pa.RecordBatch.from_pylist(table.to_pylist(), schema=table.schema),
}


def codes_of(table: Any, allocation: Allocation, *, released: bool = True) -> dict[str, list[int]]:
    """The codes of the randomized columns of a table."""
    domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
    return {name: codes.tolist() for name, codes in read_codes(table, domains, released=released).items()}


def shuffled(rows: int, words: SecureWords | SeededWords) -> Any:
    """The order of a release that has this many rows, and nothing but them."""
    return ascending(SingleUse([], words).order_keys(positions(0, rows)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_back_with_the_columns_in_the_tables_order(
    kind: str, allocation: Allocation, survey: Survey
) -> None:
    table = KINDS[kind](survey(50))
    release = randomize_table(table, allocation)
    assert type(release.table) is type(table)
    assert release.columns == ("age", "owns", "wave", "city", "size")
    assert len(release.table) == release.rows == 50
    assert release.private
    assert release.row_order == "shuffle"
    names = release.table.schema.names if kind in {"table", "batch"} else list(release.table.columns)
    assert tuple(names) == release.columns


def test_every_kind_of_table_gives_the_same_release_of_the_same_words(
    allocation: Allocation, survey: Survey
) -> None:
    for row_order in ("public", "shuffle"):
        found = []
        for make in KINDS.values():
            released = randomize_table(
                make(survey(500)), allocation, row_order=row_order, words=SeededWords(5)
            ).table
            wave = released["wave"].to_list() if isinstance(released, pl.DataFrame) else released["wave"]
            public = [None if pd.isna(value) else value for value in pa.array(wave).to_pylist()]
            found.append((codes_of(released, allocation), public))
        assert all(release == found[0] for release in found)


@pytest.mark.parametrize("count", [0, 1, CHUNK_CELLS - 1, CHUNK_CELLS, CHUNK_CELLS + 1, 2 * CHUNK_CELLS + 7])
def test_r3_under_zero_words_every_cell_changes(
    count: int, allocation: Allocation, survey: Survey, zero_words
) -> None:
    table = survey(count)
    before = codes_of(table, allocation, released=False)
    released = randomize_table(table, allocation, row_order="public", words=zero_words).table
    after = codes_of(released, allocation)
    for attribute in allocation.attributes:
        r = attribute.cardinality
        assert after[attribute.name] == [(code + 1) % r for code in before[attribute.name]]


def test_r3_slices_offsets_and_chunks_of_arrow_make_no_difference(
    allocation: Allocation, survey: Survey, zero_words
) -> None:
    whole = survey(1000)
    tables = {
        "slice": whole.slice(300, 400),
        "copy": pa.table(whole.slice(300, 400).to_pydict(), schema=whole.schema),
        "chunks": pa.concat_tables([whole.slice(300, 1), whole.slice(301, 0), whole.slice(301, 399)]),
        "dictionary": whole.set_column(4, "city", whole["city"].dictionary_encode()).slice(300, 400),
        "strided": pa.table(
            {name: np.repeat(whole[name].to_numpy(), 2)[::2] for name in ("person", "wave", "city", "owns")}
            | {name: whole[name] for name in ("age", "size")}
        ).slice(300, 400),
    }
    results = [
        codes_of(randomize_table(table, allocation, row_order="public", words=zero_words).table, allocation)
        for table in tables.values()
    ]
    assert all(result == results[0] for result in results)
    assert len(results[0]["city"]) == 400


@given(st.integers(0, 19), st.sampled_from(["york", "leeds", "elsewhere"]))
def test_r5_a_changed_cell_changes_no_other_report(
    allocation: Allocation, survey: Survey, row: int, city: str
) -> None:
    table = survey(20)
    cells = table["city"].to_pylist()
    cells[row] = city
    changed = table.set_column(4, "city", pa.array(cells))
    first, second = (
        codes_of(randomize_table(one, allocation, row_order="public", words=SeededWords(2)).table, allocation)
        for one in (table, changed)
    )
    differing = [i for i in range(20) if first["city"][i] != second["city"][i]]
    assert differing in ([], [row])
    assert {**first, "city": None} == {**second, "city": None}


def test_r6_two_releases_of_one_table_differ(allocation: Allocation, survey: Survey) -> None:
    table = survey(2000)
    first, second = (
        codes_of(randomize_table(table, allocation, row_order="public").table, allocation) for _ in range(2)
    )
    assert first != second


def test_r33_equal_attributes_have_words_of_their_own(even_split: EvenSplit) -> None:
    allocation = even_split(2.0, Attribute("a", categories=3), Attribute("b", categories=3))
    table = pa.table({"a": np.zeros(200, dtype=np.int64), "b": np.zeros(200, dtype=np.int64)})
    released = randomize_table(table, allocation, row_order="public", words=SeededWords(1)).table
    assert released["a"].to_pylist() != released["b"].to_pylist()


def test_r33_another_epsilon_has_other_words_under_the_same_seed(even_split: EvenSplit) -> None:
    table = pa.table({"a": np.zeros(200, dtype=np.int64)})
    first, second = (
        randomize_table(
            table,
            even_split(epsilon, Attribute("a", categories=1000)),
            row_order="public",
            words=SeededWords(1),
        )
        .table["a"]
        .to_numpy()
        for epsilon in (1.0, 1.001)
    )
    assert np.mean(first == second) < 0.2


def test_r8_words_that_were_given_mark_the_release_whatever_they_are(
    allocation: Allocation, survey: Survey
) -> None:
    class Pretender(SecureWords):
        pass

    for words in (SeededWords(1), SecureWords(), Pretender()):
        assert not randomize_table(survey(3), allocation, words=words).private
    assert randomize_table(survey(3), allocation).private


def test_r6_given_words_serve_one_release(allocation: Allocation, survey: Survey) -> None:
    words = SeededWords(1)
    randomize_table(survey(3), allocation, words=words)
    with pytest.raises(RandomSourceError):
        randomize_table(survey(3), allocation, words=words)


def test_r15_rows_are_shuffled_together_and_only_shuffled(allocation: Allocation, survey: Survey) -> None:
    table = survey(300)
    kept = randomize_table(table, allocation, row_order="public", words=SeededWords(4)).table
    released = randomize_table(table, allocation, words=SeededWords(4)).table
    order = shuffled(300, SeededWords(4))
    assert sorted(order.tolist()) == list(range(300))
    assert released.to_pylist() == [kept.to_pylist()[row] for row in order]
    assert kept["wave"].to_pylist() == table["wave"].to_pylist()
    assert np.mean(order == np.arange(300)) < 0.1


def test_r15_the_order_of_rows_is_uniform() -> None:
    """All 24 orders of 4 rows, 12,000 draws: chi-square with 23 degrees of freedom.

    False alarm 1e-9 (98.0 by scipy's chi2.isf); an order that is 1.3 times too frequent is found.
    """
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(12_000):
        order = tuple(shuffled(4, SecureWords()).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 98.0


def test_row_order_is_the_allocations_unless_asked(problem: Problem, survey: Survey) -> None:
    public = uniform(problem.with_fields(row_order="public"))
    table = survey(100)
    assert randomize_table(table, public).row_order == "public"
    assert randomize_table(table, public).table["wave"].to_pylist() == table["wave"].to_pylist()
    assert randomize_table(table, public, row_order="shuffle").row_order == "shuffle"
    with pytest.raises(InputError, match="row_order: is 'sorted'"):
        randomize_table(table, public, row_order="sorted")


def test_r16_a_column_without_a_budget_is_refused_by_name(allocation: Allocation, survey: Survey) -> None:
    table = (
        survey(3).append_column("income", pa.array([1, 2, 3])).append_column("Person", pa.array([1, 2, 3]))
    )
    with pytest.raises(DataError, match=r"no budget: 'income', 'Person'.*public with the reason.*dropped"):
        randomize_table(table, allocation)


def test_columns_that_the_allocation_needs_must_be_there(allocation: Allocation, survey: Survey) -> None:
    for name in ("city", "wave"):
        with pytest.raises(DataError, match=f"no column '{name}'"):
            randomize_table(survey(3).drop_columns([name]), allocation)
    assert randomize_table(survey(3).drop_columns(["person"]), allocation).rows == 3


def test_r10_every_fault_is_told_before_a_word_is_drawn(
    allocation: Allocation, survey: Survey, zero_words, caplog: pytest.LogCaptureFixture
) -> None:
    table = survey(10)
    age = table["age"].to_pylist()
    age[2] = 17.0
    size = table["size"].to_pylist()
    size[4] = size[7] = 31415926
    table = table.set_column(1, "age", pa.array(age)).set_column(5, "size", pa.array(size))
    with caplog.at_level(logging.DEBUG), pytest.raises(DataError) as caught:
        randomize_table(table, allocation, words=zero_words)
    message = str(caught.value)
    assert "column 'age': outside the bins from 18.0 to inf: 1 cell (row 2)" in message
    assert "column 'size': none of the 3 declared categories" in message
    assert "2 cells (rows 4, 7)" in message
    assert "31415926" not in message + repr(caught.value) + caplog.text
    assert zero_words.asked == []


def test_r12_dropping_every_row_of_a_category_changes_no_type(allocation: Allocation, survey: Survey) -> None:
    table = survey(400)
    table = table.set_column(4, "city", table["city"].dictionary_encode())
    fewer = table.filter(pc.equal(table["city"].cast(pa.string()), "york"))
    fewer = fewer.filter(pc.is_valid(fewer["size"]))
    for make in KINDS.values():
        whole, part = (randomize_table(make(one), allocation).table for one in (table, fewer))
        if isinstance(whole, pd.DataFrame):
            assert whole.dtypes.equals(part.dtypes)
            assert part["age"].cat.categories.tolist() == ["[18, 30)", "[30, 65)", "[65, inf)"]
        else:
            assert whole.schema == part.schema
    released = randomize_table(fewer, allocation).table
    assert released["city"].chunk(0).dictionary.to_pylist() == ["york", "leeds", 'hull, "the" port']
    assert released["age"].chunk(0).dictionary.to_pylist() == ["[18, 30)", "[30, 65)", "[65, inf)"]


@pytest.mark.parametrize("kind", KINDS)
def test_r15_r35_no_canary_of_the_original_is_in_the_release(
    kind: str, allocation: Allocation, survey: Survey
) -> None:
    table = survey(200).replace_schema_metadata({"CANARY": "CANARY"})
    original = KINDS[kind](table)
    if isinstance(original, pd.DataFrame):
        original.index = pd.Index([f"CANARY {i}" for i in range(200)], name="CANARY")
        original.attrs["CANARY"] = "CANARY"
        original["city"] = original["city"].astype(str).astype("category").cat.add_categories(["CANARY 2"])
        original["wave"] = original["wave"].astype("category").cat.add_categories(["CANARY 3"])
    release = randomize_table(original, allocation)
    assert b"CANARY" in pickle.dumps(original)
    assert b"CANARY" not in pickle.dumps(release.table)
    assert "CANARY" not in repr(release)


@pytest.mark.parametrize("epsilon", [0.0, 1e-300])
def test_r36_an_attribute_without_a_sampler_is_left_out_unless_asked_for(
    epsilon: float, even_split: EvenSplit
) -> None:
    allocation = even_split(
        2.0, Attribute("a", categories=["x", "y"], epsilon=epsilon), Attribute("b", categories=2, epsilon=1.0)
    )
    assert (allocation["a"].loss, allocation["a"].retention) == (0, 0)
    table = pa.table({"a": ["x", "x", "y"] * 100, "b": [0, 1, 0] * 100})
    assert randomize_table(table, allocation).columns == ("b",)
    other = table.set_column(0, "a", pa.array(["y"] * 300))
    reports = [
        randomize_table(one, allocation, include_empty=True, words=SeededWords(1)).table["a"].to_pylist()
        for one in (table, other)
    ]
    assert reports[0] == reports[1]
    assert set(reports[0]) == {"x", "y"}


def test_r36_a_release_without_any_column_is_refused(even_split: EvenSplit) -> None:
    allocation = even_split(2.0, Attribute("a", categories=2, epsilon=0.0))
    table = pa.table({"a": [0, 1]})
    with pytest.raises(DataError, match="no column would be released"):
        randomize_table(table, allocation)
    assert randomize_table(table, allocation, include_empty=True).columns == ("a",)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1])
def test_r14_a_table_of_one_row_or_none(
    kind: str, count: int, allocation: Allocation, survey: Survey
) -> None:
    release = randomize_table(KINDS[kind](survey(count)), allocation)
    assert (release.rows, len(release.table)) == (count, count)


def test_r7_when_the_random_source_fails_there_is_no_release(
    allocation: Allocation, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    class Failing(SecureWords):
        def stream(self, context: bytes, bits: int) -> Any:
            raise RandomSourceError("failed")

        def close(self) -> None:
            closed.append(True)
            super().close()

    monkeypatch.setattr(drawing, "SecureWords", Failing)
    with pytest.raises(RandomSourceError):
        randomize_table(survey(3), allocation)
    assert closed == [True]


def test_a_release_is_frozen(allocation: Allocation, survey: Survey) -> None:
    release = randomize_table(survey(3), allocation)
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.private = False
