"""Equal ids have equal names, different ids different ones, and no message has an id in it: R10, R34, R35."""

from __future__ import annotations

import pickle
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import Allocation
from budget_opt.errors import DataError
from budget_opt.randomizer.context import keyed_context
from budget_opt.randomizer.drawing import Keyed
from budget_opt.randomizer.row_names import RowIds, positions, require_row_id, unnamed
from budget_opt.tables.findings import Findings
from tests.randomizer.keyed_cells import (
    attribute,
    by_name,
    codes_for,
    hkdf,
    integer_name,
    parts,
    release_under,
)

KEY = bytes(range(32))
IDS = RowIds(release_under(KEY), "person")


def names(column: pa.Array | pa.ChunkedArray, ids: RowIds = IDS) -> list[bytes]:
    findings = Findings()
    found = ids.names(findings, column, 0)
    findings.require_none()
    assert found.dtype == np.dtype("<u4")
    assert found.shape == (len(column), 3)
    return [row.tobytes() for row in found]


def digest(text: str) -> bytes:
    key = hkdf(KEY, keyed_context("survey", 1, "person", ("row ids",)))
    return blake2b(text.encode(), digest_size=12, key=key).digest()


def test_the_name_of_a_position_is_that_of_its_number() -> None:
    assert [row.tobytes() for row in positions(2**32 - 2, 5)] == [
        integer_name(2**32 - 2 + i) for i in range(5)
    ]
    assert positions(10, 0).shape == (0, 3)


def test_unnamed_rows_take_no_memory_and_a_keyed_drawing_cannot_take_them() -> None:
    rows = unnamed(10**12)
    assert len(rows) == 10**12
    columns = by_name(attribute())
    with pytest.raises(IndexError):
        Keyed(parts(columns), release_under(KEY)).reports(codes_for(columns, [0, 1]), unnamed(2))


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
    ids=str,
)
def test_the_name_of_an_integer_is_its_value_and_sign_in_every_type(kind: pa.DataType) -> None:
    info = np.iinfo(kind.to_pandas_dtype())
    values = [int(info.min), int(info.max), 0, 1, 17]
    assert names(pa.array(values, kind)) == [integer_name(value) for value in values]


EDGES = [0, 9, -9, 10**18, 10**19 - 1, 10**19, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, -(10**18), 10**17]


@given(st.lists(st.integers(-(2**63), 2**64 - 1) | st.sampled_from(EDGES)))
def test_a_plain_integer_as_text_has_the_name_of_the_integer(values: list[int]) -> None:
    assert names(pa.array([str(value) for value in values], pa.string())) == [
        integer_name(value) for value in values
    ]


OTHER_TEXTS = [
    *(
        "017",
        " 17",
        "17 ",
        "+17",
        "17.0",
        "1_7",
        "-0",
        "-",
        "",
        "00",
        "1e3",
        "17\n",
        "\n17",
        "0x11",
        "a17",
        "NaN",
    ),
    *("\uff11\uff17", "\u2167", "\xe9", "e\u0301"),
    *(str(2**64), str(-(2**63) - 1), "99999999999999999999", "-9999999999999999999", "1" * 21),
]
"""Among them 17 in full-width digits, a Roman numeral, and one letter in two spellings."""


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_any_other_text_is_an_id_of_its_own(text: str) -> None:
    assert names(pa.array([text, "17"])) == [digest(text), integer_name(17)]


def test_among_all_ids_that_look_alike_no_two_have_one_name() -> None:
    texts = [
        "17",
        "017",
        " 17",
        "17 ",
        "+17",
        "17.0",
        "-17",
        "é",
        "e\u0301",
        "A",
        "a",
        str(2**64),
        str(2**64 - 1),
        "-1",
    ]
    found = names(pa.array(texts)) + names(pa.array([-(2**63)])) + names(pa.array([2**63], pa.uint64()))
    assert len(set(found)) == len(texts) + 2


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_the_container_of_a_text_has_no_part_in_its_name(kind: pa.DataType) -> None:
    texts = ["b", "17", "", "b"]
    column = (
        pa.array(texts, pa.dictionary(pa.int8(), pa.string()))
        if pa.types.is_dictionary(kind)
        else pa.array(texts, kind)
    )
    wanted = [digest("b"), integer_name(17), digest(""), digest("b")]
    assert names(column) == wanted
    assert names(column[1:]) == wanted[1:]
    assert names(pa.chunked_array([column[:1], column[1:1], column[1:]], kind)) == wanted


@pytest.mark.parametrize(
    "values", [[2**60 + 1, None, 2**60 + 2], ["17", None, "b"]], ids=["integers", "text"]
)
def test_r11_a_gap_among_the_values_of_a_dictionary_names_no_row_and_blurs_no_other(
    values: list[Any],
) -> None:
    """Older pyarrow sees the gaps of the indices only, and integers with a gap would turn into doubles."""
    plain = pa.array(values)
    whole, cut = (
        pa.DictionaryArray.from_arrays(pa.array(at, pa.int8()), plain) for at in ([0, 1, 2], [0, 2])
    )
    with pytest.raises(DataError, match=r"missing, and names no row: 1 cell \(row 1\)"):
        names(whole)
    assert names(cut) == names(plain.drop_null())


def test_an_empty_column_has_no_names() -> None:
    for kind in (pa.int64(), pa.string()):
        assert names(pa.array([], kind)) == []
        assert names(pa.chunked_array([], kind)) == []


def test_r33_the_name_of_a_text_is_under_a_key_of_the_release_and_the_column() -> None:
    text = pa.array(["CANARY"])
    others = [
        RowIds(release_under(bytes(32)), "person"),
        RowIds(release_under(KEY, number=2), "person"),
        RowIds(release_under(KEY, "other"), "person"),
        RowIds(release_under(KEY), "household"),
    ]
    assert len({names(text, ids)[0] for ids in (IDS, *others)}) == 5
    assert names(text, pickle.loads(pickle.dumps(IDS))) == names(text)
    assert repr(IDS) == "RowIds('person')"
    assert KEY not in pickle.dumps(IDS)


def test_r10_missing_ids_are_told_with_the_number_and_the_first_rows() -> None:
    findings = Findings()
    column = pa.chunked_array([pa.array(["CANARY", None]), pa.array([None, "CANARY", None] + [None] * 4)])
    assert IDS.names(findings, column, 100).shape == (9, 3)
    with pytest.raises(
        DataError, match=r"'person': missing, .*: 7 cells \(rows 101, 102, 104, 105, 106, \.\.\.\)"
    ) as told:
        findings.require_none()
    assert "CANARY" not in str(told.value)


@pytest.mark.parametrize(
    ("column", "way_out"),
    [
        (pa.array([1.0]), "astype"),
        (pa.array([1.5], pa.float32()), "astype"),
        (pa.array([0], pa.timestamp("s")), "integers or text"),
        (pa.array([0], pa.date32()), "integers or text"),
        (pa.array([True]), "integers or text"),
        (pa.array([b"x"]), "integers or text"),
        (pa.array([[1]]), "integers or text"),
        (pa.nulls(1), "integers or text"),
        (pa.array([1], pa.decimal128(5, 0)), "integers or text"),
        (pa.array([1.0]).dictionary_encode(), "integers or text"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_r10_columns_whose_equality_is_in_doubt_name_no_rows(column: pa.Array, way_out: str) -> None:
    with pytest.raises(DataError, match=way_out) as told:
        IDS.names(Findings(), column, 0)
    assert told.value.column == "person"


def test_the_column_that_names_rows_must_be_there_and_be_dropped_or_public(allocation: Allocation) -> None:
    require_row_id("person", ("person", "city"), allocation)
    require_row_id("wave", ("wave",), allocation)
    for name, columns, reason in (
        ("city", ("city",), "must be listed under dropped .*under public"),
        ("id", ("id",), "must be listed under dropped"),
        ("person", ("city",), "the table has no such column"),
    ):
        with pytest.raises(DataError, match=reason) as told:
            require_row_id(name, columns, allocation)
        assert told.value.column == name
