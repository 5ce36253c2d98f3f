"""Batches anywhere give the release of one machine, cell for cell and in its order: R12, R15, R34-R36."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import Allocation, uniform
from budget_opt.errors import DataError, InputError
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, PublicColumn
from budget_opt.model.problem import Problem
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.randomizer.keyed_release import KeyedRows
from budget_opt.randomizer.table import randomize_table
from budget_opt.tables.findings import Findings
from tests.error_chain import everything_said
from tests.randomizer.keyed_cells import release_under

RELEASE = release_under(bytes(range(32)))


@pytest.fixture(scope="session")
def people(survey: Any) -> pa.Table:
    return survey(500)


@pytest.fixture
def randomizer(people: pa.Table, allocation: Allocation) -> BatchRandomizer:
    return BatchRandomizer(people.schema, allocation, RELEASE, row_id="person")


def released(people: pa.Table, allocation: Allocation, row_order: str) -> list[dict[str, Any]]:
    keyed = KeyedRows(RELEASE, "person")
    table: pa.Table = randomize_table(people, allocation, row_order=row_order, keyed=keyed).table
    return table.to_pylist()


def test_r34_batches_of_any_size_are_the_release_of_the_table(
    people: pa.Table, allocation: Allocation, randomizer: BatchRandomizer
) -> None:
    expected = released(people, allocation, "public")
    for size in (1, 7, 499, 500):
        batches = [randomizer(batch) for batch in people.to_batches(max_chunksize=size)]
        assert all(batch.schema.equals(randomizer.schema) for batch in batches)
        assert pa.Table.from_batches(batches).to_pylist() == expected
    copied = pickle.loads(pickle.dumps(randomizer))
    assert copied(people.to_batches()[0]).to_pylist() == expected


def test_r15_sorted_by_their_keys_the_rows_are_the_shuffled_release(
    people: pa.Table, allocation: Allocation, randomizer: BatchRandomizer
) -> None:
    batches = [randomizer.with_order_keys(batch) for batch in people.to_batches(max_chunksize=33)]
    assert randomizer.order_columns == ("order_high", "order_low")
    assert all(batch.schema.equals(randomizer.order_schema) for batch in batches)
    table = pa.Table.from_batches(batches[::-1])
    ordered = table.sort_by([(name, "ascending") for name in randomizer.order_columns])
    assert ordered.drop_columns(list(randomizer.order_columns)).to_pylist() == released(
        people, allocation, "shuffle"
    )


def test_r12_r15_columns_come_back_in_their_order_and_types_without_what_they_remember(
    people: pa.Table, allocation: Allocation
) -> None:
    wave = people["wave"].dictionary_encode()
    people = people.set_column(people.schema.get_field_index("wave"), "wave", wave)
    people = people.replace_schema_metadata({"CANARY": "CANARY"})
    randomizer = BatchRandomizer(people.schema, allocation, RELEASE, row_id="person")
    assert randomizer.schema == pa.schema(
        [
            ("age", pa.string()),
            ("owns", pa.bool_()),
            ("wave", pa.string()),
            ("city", pa.string()),
            ("size", pa.int64()),
        ]
    )
    assert randomizer.schema.metadata is None
    batch = randomizer(people.to_batches()[0])
    assert batch.column("wave").to_pylist() == people["wave"].to_pylist()
    assert b"CANARY" not in pickle.dumps(batch)
    assert b"CANARY" in pickle.dumps(people)


def test_r10_r35_bad_cells_and_ids_are_told_at_once_without_a_value(
    people: pa.Table, randomizer: BatchRandomizer
) -> None:
    rows = people.slice(0, 3).to_pylist()
    rows[1]["person"] = None
    rows[2] |= {"size": 77, "age": 3.0}
    batch = pa.RecordBatch.from_pylist(rows, schema=people.schema)
    findings = Findings()
    assert randomizer.check(batch, findings).num_rows == 3
    for refused in (
        lambda: randomizer(batch),
        lambda: randomizer.with_order_keys(batch),
        findings.require_none,
    ):
        with pytest.raises(DataError) as told:
            refused()
        lines = str(told.value)
        assert "'person': missing, and names no row: 1 cell (row 1)" in lines
        assert "'size'" in lines
        assert "'age'" in lines
        assert "CANARY" not in lines
        assert "77" not in lines


def test_what_is_checked_has_the_order_keys_and_equal_ids_have_equal_ones(
    people: pa.Table, randomizer: BatchRandomizer
) -> None:
    batch = people.to_batches()[0]
    findings = Findings()
    keys = randomizer.check(batch, findings)
    findings.require_none()
    assert keys.schema.names == list(randomizer.order_columns)
    wanted = randomizer.with_order_keys(batch).select(list(randomizer.order_columns))
    assert keys.equals(wanted)
    assert len({tuple(row.values()) for row in keys.to_pylist()}) == 500
    changed = batch.set_column(batch.schema.get_field_index("owns"), "owns", pa.array([True] * 500))
    assert randomizer.check(changed, Findings()).equals(keys)


def test_the_id_column_is_public_or_dropped_there_and_of_a_type_that_names_rows(
    people: pa.Table, allocation: Allocation
) -> None:
    for row_id, reason in (("city", "dropped"), ("id", "dropped")):
        with pytest.raises(DataError, match=reason):
            BatchRandomizer(people.schema, allocation, RELEASE, row_id=row_id)
    with pytest.raises(DataError, match="no such column"):
        BatchRandomizer(people.drop_columns("person").schema, allocation, RELEASE, row_id="person")
    floats = people.set_column(0, "person", pa.array(np.arange(500.0)))
    with pytest.raises(DataError, match="integers or text"):
        BatchRandomizer(floats.schema, allocation, RELEASE, row_id="person")
    more = people.append_column("more", pa.nulls(500))
    with pytest.raises(DataError, match="no budget"):
        BatchRandomizer(more.schema, allocation, RELEASE, row_id="person")


def test_r36_an_attribute_without_a_sampler_is_left_out_unless_asked_for() -> None:
    problem = Problem(
        attributes=[Attribute("a", categories=2, epsilon=0.0), Attribute("b", categories=2)],
        moments=[CrossMoment("b")],
        total_epsilon=1.0,
        dropped=["id"],
    )
    allocation = uniform(problem)
    schema = pa.schema([("id", pa.int64()), ("a", pa.int64()), ("b", pa.int64())])
    assert BatchRandomizer(schema, allocation, RELEASE, row_id="id").schema.names == ["b"]
    with_noise = BatchRandomizer(schema, allocation, RELEASE, row_id="id", include_empty=True)
    ids = pa.array(range(200))
    drawn = [
        with_noise(pa.record_batch([ids, pa.array([code] * 200), pa.array([0] * 200)], schema=schema)).column(
            "a"
        )
        for code in (0, 1)
    ]
    assert drawn[0].equals(drawn[1])
    assert set(drawn[0].to_pylist()) == {0, 1}


def test_the_keys_have_names_that_no_released_column_has() -> None:
    problem = Problem(
        attributes=[Attribute("order_low", categories=2)],
        moments=[CrossMoment("order_low")],
        total_epsilon=1.0,
        dropped=["id"],
    )
    schema = pa.schema([("id", pa.int64()), ("order_low", pa.int64())])
    randomizer = BatchRandomizer(schema, uniform(problem), RELEASE, row_id="id")
    assert randomizer.order_columns == ("_order_high", "_order_low")
    batch = randomizer.with_order_keys(pa.record_batch([pa.array([5]), pa.array([1])], schema=schema))
    assert batch.schema.names == ["order_low", "_order_high", "_order_low"]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_halves_with_the_top_bit_turned_have_the_order_of_unsigned_numbers(a: int, b: int) -> None:
    turned = (np.array([a, b], dtype=np.uint64) ^ np.uint64(2**63)).view(np.int64)
    assert (turned[0] < turned[1]) == (a < b)


def test_nothing_of_a_randomizer_shows_a_key(randomizer: BatchRandomizer) -> None:
    content = pickle.dumps(randomizer)
    assert bytes(range(32)) not in content
    derived = [column.key for column in randomizer._keyed._open()]
    assert not any(
        key.hex() in text or repr(key) in text
        for key in derived
        for text in (repr(randomizer), str(randomizer))
    )


def batch_of(**changes: Any) -> pa.RecordBatch:
    columns = {"x": pa.array([0, 1]), "w": pa.array(["u", "v"]), "id": pa.array([1, 2])} | changes
    return pa.record_batch({name: column for name, column in columns.items() if column is not None})


def randomizer_of(schema: pa.Schema) -> BatchRandomizer:
    problem = Problem(
        attributes=[Attribute("x", categories=2)],
        moments=[CrossMoment("x")],
        total_epsilon=1,
        public=[PublicColumn("w", why="the same for everybody")],
        dropped=["id"],
    )
    return BatchRandomizer(schema, uniform(problem), RELEASE, row_id="id")


@pytest.fixture(scope="module")
def of_batch() -> BatchRandomizer:
    return randomizer_of(batch_of().schema)


@pytest.mark.parametrize(
    ("batch", "told"),
    [
        (batch_of(w=None), "has no column 'w'"),
        (batch_of(x=None), "has no column 'x'"),
        (batch_of(id=None), "has no column 'id'"),
        (
            batch_of(w=pa.array([7654321, 1])),
            "'w' is of type int64 in this batch, and string in the schema",
        ),
        (batch_of(w=pa.array([2**62, 1], pa.timestamp("s"))), r"'w' is of type timestamp\[s\]"),
        (batch_of(w=pa.array([["CANARY"]] * 2)), "'w' is of type list in this batch"),
        (pa.Table.from_batches([batch_of()]), "batch: is a Table, must be a RecordBatch"),
        (None, "batch: is a NoneType"),
    ],
)
def test_r10_a_batch_that_is_not_of_the_schema_is_refused_and_never_converted(
    of_batch: BatchRandomizer, batch: Any, told: str
) -> None:
    with pytest.raises(InputError, match=told) as raised:
        of_batch(batch)
    assert not any(cell in everything_said(raised.value) for cell in ("7654321", str(2**62), "CANARY"))


def test_a_batch_may_have_a_dictionary_in_place_of_its_values(of_batch: BatchRandomizer) -> None:
    batch = batch_of(w=pa.array(["u", "v"]).dictionary_encode())
    assert of_batch(batch).equals(of_batch(batch_of()))


@pytest.mark.parametrize("wrong", ["schema", "allocation", "release"])
def test_an_argument_of_another_type_is_told(people: pa.Table, allocation: Allocation, wrong: str) -> None:
    given_: dict[str, Any] = {
        "schema": people.schema,
        "allocation": allocation,
        "release": RELEASE,
        wrong: "x",
    }
    with pytest.raises(InputError, match=f"^{wrong}: is a str, must be"):
        BatchRandomizer(**given_, row_id="person")


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_r15_a_released_batch_keeps_nothing_of_the_rows_that_it_was_cut_from(kind: pa.DataType) -> None:
    texts = ["CANARY" * 5, "b" * 30]
    column = pa.array(texts).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(texts, kind)
    batch = batch_of(w=column).slice(1)
    randomizer = randomizer_of(batch.schema)
    assert b"CANARY" in pickle.dumps(batch)
    assert b"CANARY" not in pickle.dumps(randomizer(batch))
    assert randomizer(batch)["w"].to_pylist() == texts[1:]
