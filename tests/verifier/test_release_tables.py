"""`verify_release` on tables and files: columns, rows, labels and public cells are compared too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation, uniform
from budget_opt.errors import DataError, VerificationError
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.tables.encoding import decode
from budget_opt.verifier.comparison import differing
from budget_opt.verifier.release import judge_release, verify_release
from budget_opt.verifier.release_report import ReleaseReport
from tests.verifier.sample_release import Codes, N, allocation_of, originals, sound


def labelled(allocation: Allocation, table: Mapping[str, Codes]) -> pa.Table:
    columns = {name: decode(codes, allocation[name].domain) for name, codes in table.items()}
    plain = {n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()}
    return pa.table({**plain, "wave": pa.array(np.arange(len(next(iter(table.values())))) % 7)})


@pytest.fixture(scope="module")
def job() -> tuple[Allocation, pa.Table, pa.Table]:
    rng = np.random.default_rng(9)
    allocation, table = allocation_of(), originals(rng)
    return allocation, labelled(allocation, table), labelled(allocation, sound(rng, allocation, table))


Job = tuple[Allocation, pa.Table, pa.Table]


def failed(report: ReleaseReport) -> list[str]:
    return [check.claim for check in report.failed]


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "parquet", "csv", "mixed"])
def test_tables_and_files_of_every_kind_are_compared(job: Job, kind: str, tmp_path: Path) -> None:
    allocation, original, released = job
    sides: list[Any] = []
    for place, table in enumerate((original, released)):
        if kind == "pandas":
            sides.append(table.to_pandas())
        elif kind == "polars":
            polars = pytest.importorskip("polars")
            sides.append(polars.from_arrow(table))
        elif kind == "csv" or (kind == "mixed" and place):
            sides.append(tmp_path / f"{place}.csv")
            pyarrow.csv.write_csv(table, sides[-1])
        elif kind == "parquet":
            sides.append(tmp_path / f"{place}.parquet")
            pyarrow.parquet.write_table(table, sides[-1], row_group_size=7_001 + place)
        else:
            sides.append(table)
    report = verify_release(allocation, *sides)
    assert report.holds, str(report)
    reference = verify_release(allocation, original, released)
    assert report.transitions == reference.transitions
    assert report.retentions == reference.retentions


def test_a_changed_public_column_is_convicted(job: Job) -> None:
    allocation, original, released = job
    wave = released["wave"].to_numpy().copy()
    wave[-1] += 1
    changed = released.set_column(released.column_names.index("wave"), "wave", pa.array(wave))
    report = verify_release(allocation, original, changed)
    assert failed(report) == ["public column wave is as it was"]
    assert report.failed[0].measured == 1


def test_public_cells_that_are_missing_or_not_a_number_on_both_sides_are_equal(job: Job) -> None:
    allocation, original, released = job
    values = pa.array([None, math.nan, 1.5, 0.1] * (N // 4))
    place = original.column_names.index("wave")
    sides = [table.set_column(place, "wave", values) for table in (original, released)]
    assert verify_release(allocation, *sides).holds


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        (pa.array(["a", None, "b"]), pa.array(["a", "", "b"])),
        (pa.array(["a", "b", "c"]).dictionary_encode(), pa.array(["a", "b", "d"])),
        (pa.array(["a", "b", "c"], pa.string_view()), pa.array(["a", "b", "C"], pa.string_view())),
        (pa.array(["a", "b", "c"]), pa.array(["a", "b", "C"], pa.large_string())),
        (pa.array([1, 2, 3]), pa.array(["1", "2", "4"])),
        (pa.array(["0.1", "2", "3"]), pa.array([0.1, 2, 3.0000000000000004])),
        (pa.array([True, False, None]), pa.array([True, False, False])),
        (pa.array([0, 1, 2], pa.date32()), pa.array([0, 1, 3], pa.date32())),
        (pa.array([0, 1, 2], pa.timestamp("us")), pa.array([0, 1, 3], pa.timestamp("us"))),
        (pa.array([[1], [2, 3], []]), pa.array([[1], [2, 3], [4]])),
        (pa.array([b"a", b"b", b"c"]), pa.array([b"a", b"b", b"d"])),
        (pa.array([1.5, 2, 3]).cast(pa.decimal128(5, 2)), pa.array([1.5, 2, 4]).cast(pa.decimal128(5, 2))),
    ],
    ids=lambda values: str(values.type),
)
def test_public_cells_of_every_type_are_compared_by_value(values: pa.Array, changed: pa.Array) -> None:
    assert differing(values, values) == differing(changed, changed) == 0
    assert differing(values, changed) == 1


def test_public_cells_that_cannot_be_read_in_the_others_type_are_all_different() -> None:
    assert differing(pa.array([1, 2]), pa.array(["1", "two"])) == 2


def test_columns_too_many_or_too_few_are_convicted(job: Job) -> None:
    allocation, original, released = job
    report = verify_release(allocation, original, released.drop_columns(["region"]))
    assert failed(report) == ["the release has the allocation's columns and no other"]
    assert "without 'region'" in str(report.failed[0].measured)
    assert any("region x income" in note for note in report.notes)
    more = released.append_column("name", pa.array(["someone"] * N))
    assert failed(verify_release(allocation, original, more)) == [
        "the release has the allocation's columns and no other"
    ]


def test_another_number_of_rows_is_convicted_and_nothing_else_is_judged(job: Job) -> None:
    allocation, original, released = job
    report = verify_release(allocation, original, released.slice(1))
    assert failed(report) == ["the release has every row"]
    assert not report.transitions


def test_a_released_label_outside_the_domain_is_convicted_without_its_value(job: Job) -> None:
    allocation, original, released = job
    region = released["region"].to_pylist()
    region[5] = "canary"
    changed = released.set_column(released.column_names.index("region"), "region", pa.array(region))
    report = verify_release(allocation, original, changed)
    assert failed(report) == ["region: all cells are within the declared domain"]
    assert "canary" not in str(report)
    assert "region" not in {evidence.name for evidence in report.transitions}
    other = released.set_column(released.column_names.index("region"), "region", pa.array(np.arange(N)))
    assert failed(verify_release(allocation, original, other)) == [
        "region: all cells are within the declared domain"
    ]


def test_an_original_outside_the_domain_is_an_error(job: Job) -> None:
    allocation, original, released = job
    changed = original.set_column(
        original.column_names.index("region"), "region", pa.array(["canary"] * N, pa.string())
    )
    with pytest.raises(DataError, match="region") as caught:
        verify_release(allocation, changed, released)
    assert "canary" not in str(caught.value)


def test_a_shuffled_table_fails_with_the_hint_that_it_must_be_in_the_original_order(job: Job) -> None:
    allocation, original, released = job
    order = np.random.default_rng(10).permutation(N)
    report = verify_release(allocation, original, released.take(order))
    assert any("before any shuffle" in claim for claim in failed(report))
    with pytest.raises(VerificationError, match="before any shuffle"):
        report.require()


def test_a_column_without_budget_may_be_absent_and_is_judged_as_pure_noise_where_it_is_released() -> None:
    rng = np.random.default_rng(11)
    problem = Problem(
        attributes=[
            Attribute("a", categories=3, ordered=True, epsilon=0.0),
            Attribute("b", categories=2, epsilon=1.0),
        ],
        moments=[CrossMoment("a", "b", weight=1.0)],
        total_epsilon=1.0,
    )
    allocation = uniform(problem)
    n = 5_000
    table = {"a": rng.integers(0, 3, n).astype(np.uint8), "b": rng.integers(0, 2, n).astype(np.uint8)}
    released = sound(rng, allocation, table)
    assert judge_release(allocation, table, {"b": released["b"]}).holds
    assert judge_release(allocation, table, released).holds
    assert not judge_release(allocation, table, {**released, "a": table["a"]}).holds


@pytest.mark.parametrize("words", ["single use", "by position", "by id"])
def test_r33_what_the_randomizer_makes_passes_every_test_of_its_noise(job: Job, words: str) -> None:
    """Of every kind of words, of which no two cells share any: at most one false alarm in 1e9 runs."""
    allocation, original, _ = job
    options: dict[str, Any] = {}
    if words != "single use":
        options["release"] = bo.KeyedRelease("a survey")
    if words == "by id":
        options["row_id"] = "wave"
        original = original.set_column(4, "wave", pa.array(np.arange(N) * 3))
    released = bo.randomize(original, allocation, row_order="public", **options)
    report = verify_release(allocation, original, released)
    assert report.holds, report.in_full
    assert len(report.noise) == 18
