"""The digest of all cells of a release: equal for identical tables, in whatever file, and for no others."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import DataError
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.tables.cell_digest import CellDigest, NewHash

DOMAINS = {
    "region": bo.Attribute("region", categories=["north", "south", "east"], missing="category").domain,
    "income": bo.Attribute("income", categories=5).domain,
    "smoker": bo.Attribute("smoker", categories=[False, True]).domain,
}
ROWS = 30
TABLE = pa.table(
    {
        "region": ["north", None, "east"] * (ROWS // 3),
        "income": [i % 5 for i in range(ROWS)],
        "wave": [f"w{i % 7}" * (i % 3) if i % 4 else None for i in range(ROWS)],
        "smoker": [i % 2 == 0 for i in range(ROWS)],
    }
)


def keyed(key: bytes = b"key") -> NewHash:
    return hashlib.blake2b(key=key, digest_size=32).copy


def digest(table: pa.Table, batch_rows: int = 1000, key: bytes = b"key") -> str:
    cells = CellDigest(DOMAINS, keyed(key))
    for batch in table.to_batches(max_chunksize=batch_rows):
        cells.add(batch)
    return cells.hexdigest()


def changed(name: str, row: int, value: object) -> pa.Table:
    values = TABLE[name].to_pylist()
    values[row] = value
    return TABLE.set_column(TABLE.schema.get_field_index(name), name, pa.array(values, TABLE[name].type))


@settings(max_examples=50)
@given(st.integers(1, ROWS + 1))
def test_the_digest_does_not_depend_on_how_the_rows_are_cut(batch_rows: int) -> None:
    assert digest(TABLE, batch_rows) == digest(TABLE)


@pytest.mark.parametrize("chunk", [1, 7])
def test_the_digest_is_that_of_the_cells_whatever_types_and_slices_hold_them(chunk: int) -> None:
    padded = pa.concat_tables([TABLE.slice(0, 5), TABLE])
    assert digest(padded.slice(5), chunk) == digest(TABLE)
    assert digest(TABLE.select(["wave", "smoker", "region", "income"])) == digest(TABLE)
    packed = TABLE.set_column(0, "region", TABLE["region"].dictionary_encode())
    packed = packed.set_column(1, "income", TABLE["income"].cast(pa.int8()))
    packed = packed.set_column(2, "wave", TABLE["wave"].cast(pa.large_string()).dictionary_encode())
    assert digest(packed, chunk) == digest(TABLE)


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("region", 0, "south"),
        ("region", 1, "north"),
        ("income", 29, 0),
        ("smoker", 3, True),
        ("wave", 0, ""),
        ("wave", 1, "w11"),
        ("wave", 29, None),
    ],
)
def test_r22_one_other_cell_is_another_digest(name: str, row: int, value: object) -> None:
    assert digest(changed(name, row, value)) != digest(TABLE)


def test_r22_other_rows_orders_names_domains_and_keys_are_another_digest() -> None:
    others = [
        TABLE.slice(1),
        TABLE.take(pa.array([1, 0, *range(2, ROWS)])),
        TABLE.rename_columns(["region", "income", "wave 2", "smoker"]),
        TABLE.drop_columns(["wave"]),
    ]
    digests = {digest(TABLE), digest(TABLE, key=b"other"), *map(digest, others)}
    assert len(digests) == 2 + len(others)
    order = {**DOMAINS, "region": bo.Attribute("region", categories=["south", "north", "east"]).domain}
    cells = CellDigest(order, keyed())
    cells.add(TABLE.slice(2, 1).to_batches()[0])
    assert cells.hexdigest() != digest(TABLE.slice(2, 1))


def test_texts_that_follow_one_another_are_not_run_together() -> None:
    one, other = (pa.table({"wave": values}) for values in (["ab", "c"], ["a", "bc"]))
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"\xff", None, b""]),
        pa.array([1.5, None, 0.1]),
        pa.array([1, None, 3], pa.timestamp("us")),
        pa.array([1, None, 3], pa.duration("s")),
        pa.array(["a", None, "c"], pa.string_view()),
        pa.nulls(3),
    ],
)
def test_public_values_of_every_type_count(values: pa.Array) -> None:
    table = pa.table({"x": values})
    assert digest(table, 1) == digest(table)
    if values.null_count < len(values):
        turned = pa.array(values.to_pylist()[::-1], values.type)
        assert digest(pa.table({"x": turned})) != digest(table)


def test_a_report_outside_the_domain_is_an_error_without_its_value() -> None:
    with pytest.raises(DataError) as raised:
        digest(changed("region", 0, "canary"))
    assert "canary" not in str(raised.value)


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
def test_what_a_file_shows_is_what_lies_in_it(tmp_path: Path, row_order: str) -> None:
    """The batches of `on_released` and those that are read again from both kinds of files."""
    problem = bo.Problem(
        total_epsilon=3.0,
        attributes=[bo.Attribute("a", categories=3), bo.Attribute("b", categories=["x", "y"])],
        moments=[bo.CrossMoment("a", "b")],
        public=[{"name": "wave", "why": "the same for everybody"}],
    )
    table = pd.DataFrame({"a": [0, 1, 2] * 50, "b": ["x", "y"] * 75, "wave": range(150)})
    table.to_csv(tmp_path / "data.csv", index=False)
    allocation, release = bo.uniform(problem), bo.KeyedRelease("people")
    domains = {one.name: one.domain for one in allocation.attributes}
    digests = set()
    for target in ("r.csv", "r.parquet", "r"):
        shown, read = CellDigest(domains, keyed()), CellDigest(domains, keyed())
        options = FileOptions(row_order=row_order, release=release, on_released=shown.add)
        randomize_file(tmp_path / "data.csv", allocation, tmp_path / target, options)
        found = pd.read_csv(tmp_path / target) if target == "r.csv" else pd.read_parquet(tmp_path / target)
        read.add(pa.RecordBatch.from_pandas(found, preserve_index=False))
        digests |= {shown.hexdigest(), read.hexdigest()}
    assert len(digests) == 1
