"""Merged categories from the original cell to the release: read fine, released coarse. R10, R12, R15, R34."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import DataError
from budget_opt.randomizer.local.document import terms_of_document
from tests.randomizer.keyed_cells import release_under

TOWNS = ("york-canary", "leeds-canary", "hull-canary", "bath-canary", "bristol-canary")
REGIONS = {"north": list(TOWNS[:3]), "south": list(TOWNS[3:])}
AGES = {"young": ["[18, 30)", "[30, 45)"], "old": ["[45, 65)", "[65, 90]"]}
RELEASE = release_under(bytes(range(32)))
N = 400


def problem(**fields: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("town", categories=TOWNS, grouping=REGIONS, missing="category", **fields),
            bo.Attribute("age", bins=[18, 30, 45, 65, 90], grouping=AGES),
            bo.Attribute("income", bins=[0, 10, 20, 40], grouping=[["[0, 10)", "[10, 20)"], ["[20, 40]"]]),
            bo.Attribute("rooms", categories=4, grouping=[[0, 1], [2, 3]]),
        ],
        moments=[bo.CrossMoment("town", "age"), bo.CrossMoment("income", "rooms")],
        public=[bo.PublicColumn("id", why="a running number")],
        total_epsilon=8.0,
        objective="geometric_mean",
    )


def allocation() -> Allocation:
    return bo.uniform(problem())


def originals(n: int = N) -> dict[str, list[Any]]:
    rng = np.random.default_rng(7)
    towns = [None if code == 5 else TOWNS[code] for code in rng.integers(0, 6, n)]
    return {
        "town": towns,
        "age": rng.integers(18, 91, n).tolist(),
        "income": rng.uniform(0, 40, n).tolist(),
        "rooms": rng.integers(0, 4, n).tolist(),
        "id": [f"{row:04}" for row in range(n)],
    }


LABELS = {
    "town": {"north", "south", None},
    "age": {"young", "old"},
    "income": {"[0, 20)", "[20, 40]"},
    "rooms": {"0 or 1", "2 or 3"},
}


def require_coarse(table: pa.Table) -> None:
    for name, labels in LABELS.items():
        assert set(table[name].to_pylist()) == labels


@pytest.mark.parametrize("kind", ["pyarrow", "dictionary", "pandas", "categorical", "polars"])
def test_r12_r15_a_table_is_released_with_the_merged_labels_alone(kind: str) -> None:
    released = bo.randomize(_as(kind), allocation())
    if isinstance(released, pd.DataFrame):
        table = pa.Table.from_pandas(released)
    else:
        table = released.to_arrow() if isinstance(released, pl.DataFrame) else released
    require_coarse(table)
    if kind == "categorical":
        assert released["town"].cat.categories.tolist() == ["north", "south"]
    if kind == "dictionary":
        assert table["town"].chunk(0).dictionary.to_pylist() == ["north", "south"]
    assert bo.estimate.moment(released, allocation(), "income", "rooms").n == N


def _as(kind: str) -> Any:
    table = pa.table(originals())
    if kind == "dictionary":
        return table.set_column(0, "town", table["town"].dictionary_encode())
    if kind == "polars":
        return pl.from_arrow(table)
    return (
        table
        if kind == "pyarrow"
        else table.to_pandas().astype({"town": "category" if kind == "categorical" else object})
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_r15_no_declared_label_that_was_merged_is_in_the_bytes_of_a_released_file(
    ending: str, tmp_path: Path
) -> None:
    source, target = tmp_path / f"originals.{ending}", tmp_path / f"released.{ending}"
    table = pa.table(originals())
    if ending == "csv":
        pd.DataFrame(originals()).to_csv(source, index=False)
    else:
        pq.write_table(table, source)
    bo.randomize_file(source, allocation(), target)
    content = target.read_bytes()
    assert b"canary" not in content
    assert b"[18, 30)" not in content
    read = pa.Table.from_pandas(pd.read_csv(target)) if ending == "csv" else pq.read_table(target)
    assert set(read["town"].to_pylist()) - {None} == {"north", "south"}
    assert set(read["age"].to_pylist()) == LABELS["age"]


def test_r34_the_same_cell_gives_the_same_report_in_a_table_a_batch_and_alone() -> None:
    table = pa.table(originals())
    whole = bo.randomize(table, allocation(), "public", release=RELEASE, row_id="id")
    batched = bo.BatchRandomizer(table.schema, allocation(), RELEASE, row_id="id")
    parts = [batched(batch) for batch in table.to_batches(max_chunksize=37)]
    assert pa.Table.from_batches(parts).to_pylist() == whole.to_pylist()
    require_coarse(whole)


def test_r34_cells_that_are_merged_get_one_report_and_other_groupings_other_words() -> None:
    """The word depends on the merged category; under another grouping of the same names it is another one."""
    rows = {name: [values[0]] * N for name, values in originals().items()} | {"id": originals()["id"]}
    first, second = (
        bo.randomize(
            pa.table(rows | {"town": [town] * N}), allocation(), "public", release=RELEASE, row_id="id"
        )
        for town in TOWNS[:2]
    )
    assert first["town"].to_pylist() == second["town"].to_pylist()
    other = problem().with_grouping("town", {"north": list(TOWNS[:2]), "south": list(TOWNS[2:])})
    third = bo.randomize(
        pa.table(rows | {"town": [TOWNS[0]] * N}), bo.uniform(other), "public", release=RELEASE, row_id="id"
    )
    differing = sum(a != b for a, b in zip(first["town"].to_pylist(), third["town"].to_pylist(), strict=True))
    assert differing > N / 20


@pytest.mark.parametrize("cell", ["north", "York-canary", "york-canary ", 1])
def test_r10_a_cell_that_is_no_declared_category_is_refused_without_its_value(cell: Any) -> None:
    rows = originals()
    rows["town"] = (
        [cell if isinstance(cell, int) else town for town in rows["town"]] if cell == 1 else rows["town"]
    )
    if cell != 1:
        rows["town"][3] = cell
    with pytest.raises(DataError) as caught:
        bo.randomize(pa.table(rows), allocation())
    assert "'town'" in str(caught.value)
    assert "York-canary" not in str(caught.value)
    if cell != 1:
        assert caught.value.rows == (3,)


def test_an_unseen_value_goes_where_other_goes() -> None:
    asked = problem(other=TOWNS[4]).with_fields(total_epsilon=4000.0)
    rows = originals()
    rows["town"] = ["somewhere else"] * N
    released = bo.randomize(pa.table(rows), bo.uniform(asked))
    assert set(released["town"].to_pylist()) == {"south"}


def test_at_a_large_epsilon_every_cell_is_the_group_of_its_category() -> None:
    rows = originals()
    large = bo.uniform(problem().with_total(4000.0))
    released = bo.randomize(pa.table(rows), large, "public")
    group = {town: name for name, towns in REGIONS.items() for town in towns} | {None: None}
    assert released["town"].to_pylist() == [group[town] for town in rows["town"]]
    assert released["age"].to_pylist() == ["young" if age < 45 else "old" for age in rows["age"]]
    assert released["income"].to_pylist() == ["[0, 20)" if x < 20 else "[20, 40]" for x in rows["income"]]
    assert released["rooms"].to_pylist() == ["0 or 1" if x < 2 else "2 or 3" for x in rows["rooms"]]


def test_a_released_table_is_read_by_the_merged_labels_and_verifies() -> None:
    table = pa.table(originals(3000))
    released = bo.randomize(table, allocation(), "public")
    bo.verify_release(allocation(), original=table, released=released).require()
    fine = released.set_column(0, "town", pa.array([TOWNS[0]] * 3000))
    report = bo.verify_release(allocation(), original=table, released=fine)
    assert any("within the declared domain" in check.claim for check in report.failed)


def test_one_record_at_a_time_takes_declared_values_and_gives_merged_ones() -> None:
    randomizer = bo.LocalRandomizer(allocation())
    reports = [
        randomizer.report({"town": TOWNS[0], "age": 20, "income": 3, "rooms": 1, "id": "1"})
        for _ in range(60)
    ]
    assert {report["town"] for report in reports} <= LABELS["town"]
    assert {report["rooms"] for report in reports} == LABELS["rooms"]


def test_r12_the_terms_of_a_file_have_the_merged_domain_with_numpy_alone() -> None:
    terms = terms_of_document(allocation().to_dict())
    assert [one.domain for one in terms.attributes] == [one.domain for one in allocation().attributes]


def test_an_audit_asks_with_declared_values_and_reads_merged_ones() -> None:
    def ours(table: Any) -> Any:
        return bo.randomize(table, allocation(), row_order="public")

    audit = bo.audit(ours, allocation(), 4_000, bo.AuditOptions(takes="pyarrow", calls=8, seed=1)).require()
    assert [bound.name for bound in audit.bounds] == [*LABELS, None]
