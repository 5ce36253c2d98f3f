"""Cells against the declared domain: R10, R11, R12."""

from __future__ import annotations

import decimal
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import DataError
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Domain
from budget_opt.tables.encoding import code_type, decode, encode, label_type

CITIES = Attribute("city", categories=["york", "Zürich", "1", "true"]).domain
CODES = Attribute("code", categories=[1, 2, 4]).domain
FLAGS = Attribute("flag", categories=[True, False]).domain
AGES = Attribute("age", bins=[18, 30, 45.5, 65]).domain
OPEN = Attribute("age", bins=[None, 0, 10, None], scores=[0, 1, 2]).domain
MISSING = Domain("text", ("a", "b", None))
MISSING_BINS = Domain("bins", ("[0, 1)", "[1, 2]", None), (0.0, 1.0, 2.0))
OTHER = Attribute("city", categories=["a", "rest"], other="rest").domain

TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
INTEGER_TYPES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_text_is_found_in_every_text_type(kind: pa.DataType) -> None:
    cells = pa.array(["true", "york", "1", "Zürich"]).cast(kind)
    assert encode(cells, CITIES, "city").tolist() == [3, 0, 2, 1]


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
@pytest.mark.parametrize("index", [pa.int8(), pa.uint32(), pa.int64()], ids=str)
def test_r12_the_dictionary_of_a_column_says_nothing(kind: pa.DataType, index: pa.DataType) -> None:
    """Other order, repeated and unused entries, one of them outside the domain."""
    entries = pa.array(["elsewhere", "1", "york", "1"]).cast(kind)
    cells = pa.DictionaryArray.from_arrays(pa.array([2, 1, 3], index), entries)
    assert encode(cells, CITIES, "city").tolist() == [0, 2, 2]


@pytest.mark.parametrize("kind", INTEGER_TYPES, ids=str)
def test_integers_are_found_in_every_integer_type(kind: pa.DataType) -> None:
    assert encode(pa.array([4, 1, 2, 1], kind), CODES, "code").tolist() == [2, 0, 1, 0]


def test_labels_that_a_small_integer_type_cannot_hold_do_not_disturb_it() -> None:
    domain = Domain("integer", (-5, 300, 7, 2**53))
    assert encode(pa.array([7, -5], pa.int8()), domain, "code").tolist() == [2, 0]
    assert encode(pa.array([7, 300], pa.uint16()), domain, "code").tolist() == [2, 1]
    assert encode(pa.array([2**53, 7], pa.uint64()), domain, "code").tolist() == [3, 2]
    with pytest.raises(DataError):
        encode(pa.array([2**64 - 5], pa.uint64()), domain, "code")


def test_booleans_keep_the_declared_order() -> None:
    assert encode(pa.array([False, True]), FLAGS, "flag").tolist() == [1, 0]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([18, 29, 30, 45, 46, 65], pa.uint8()),
        pa.array([18.0, math.nextafter(30, 0), 30.0, 45.4, 45.5, 65.0]),
        pa.array([18, 29, 30, 45, 46, 65], pa.float32()),
        pa.array([decimal.Decimal(x) for x in ("18.00", "29.99", "30.00", "45.49", "45.50", "65.00")]),
    ],
    ids=lambda cells: str(cells.type),
)
def test_a_bin_holds_its_lower_edge_and_the_last_one_both(cells: pa.Array) -> None:
    assert encode(cells, AGES, "age").tolist() == [0, 0, 1, 1, 2, 2]


def test_decimals_fall_where_the_equal_double_falls() -> None:
    """Arrow's own conversion gives 0.30000000000000004 for 0.3, which is another bin here."""
    domain = Attribute("x", bins=[0, 0.3, math.nextafter(0.3, 1), 1]).domain
    assert encode(pa.array([decimal.Decimal("0.3")]), domain, "x").tolist() == [1]


def test_r11_minus_zero_is_zero() -> None:
    assert encode(pa.array([-0.0, 0.0]), OPEN, "age").tolist() == [1, 1]


FLOATING = [pa.float16(), pa.float32(), pa.float64()]


def floating(cells: list[float | None], kind: pa.DataType) -> pa.Array:
    return pa.array(np.array(cells, dtype=kind.to_pandas_dtype()), kind)


@pytest.mark.parametrize("kind", FLOATING, ids=str)
@pytest.mark.parametrize("coded", [False, True])
def test_r11_integers_are_found_as_the_floating_point_numbers_that_they_are(
    kind: pa.DataType, coded: bool
) -> None:
    cells = floating([4.0, 1.0, -0.0, 0.0, math.nan], kind)
    if coded and kind != pa.float16():
        cells = cells.dictionary_encode()
    domain = Domain("integer", (1, 0, 4, None))
    assert encode(cells, domain, "x").tolist() == [2, 0, 1, 1, 3]
    assert encode(cells, domain, "x", released=True).tolist() == [2, 0, 1, 1, 3]


def test_r11_integers_of_arrow_with_a_null_are_no_nan() -> None:
    cells = pa.array([1.0, None, math.nan], pa.float64())
    assert encode(cells, Domain("integer", (1, 2, None)), "x").tolist() == [0, 2, 2]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        *[(cell, kind) for cell in (1.5, math.inf, -math.inf) for kind in FLOATING],
        (2.0**11, pa.float16()),
        (2.0**24, pa.float32()),
        (2.0**53, pa.float64()),
        (-(2.0**53), pa.float64()),
        (1e300, pa.float64()),
        (math.nextafter(1, 2), pa.float64()),
    ],
)
@pytest.mark.parametrize("other", [None, 1])
def test_r10_r11_what_is_no_integer_for_sure_is_an_error_even_with_other(
    cell: float, kind: pa.DataType, other: int | None
) -> None:
    domain = Domain("integer", (1, 2, 2**11, 2**24, 2**53 - 1), None, other)
    with pytest.raises(DataError, match="no integer: a fraction, infinite, or so large") as caught:
        encode(floating([1.0, cell], kind), domain, "x")
    assert (caught.value.count, caught.value.rows) == (1, (1,))
    assert math.isinf(cell) or str(cell) not in str(caught.value)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.float64(), pa.bool_(), pa.int8(), pa.date32(), pa.list_(pa.int8())], ids=str
)
def test_r11_a_column_that_is_all_missing_has_no_type(kind: pa.DataType) -> None:
    """What a reader makes of a column without a cell must not refuse it where missing is declared."""
    for domain in (MISSING, Domain("integer", (1, 2, None)), Domain("boolean", (True, False, None))):
        assert encode(pa.nulls(2, kind), domain, "x").tolist() == [2, 2]
        assert encode(pa.array([math.nan, None]), domain, "x").tolist() == [2, 2]
    assert encode(pa.nulls(2, kind), MISSING_BINS, "x").tolist() == [2, 2]
    with pytest.raises(DataError, match="missing, which is not a declared category"):
        encode(pa.nulls(2, kind), CITIES, "x")


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (pa.array(["york", "york ", "york"]), (1,)),
        (pa.array(["York", "york"]), (0,)),
        (pa.array(["Zu\u0308rich"]), (0,)),
        (pa.array(["york", "", "leeds"]), (1, 2)),
        (pa.array(["a"] * 9), (0, 1, 2, 3, 4)),
    ],
    ids=["blank", "case", "NFD", "empty", "many"],
)
def test_r10_look_alikes_are_errors_with_column_count_and_rows(
    cells: pa.Array, rows: tuple[int, ...]
) -> None:
    with pytest.raises(DataError) as caught:
        encode(cells, CITIES, "city")
    error = caught.value
    assert (error.column, error.rows) == ("city", rows)
    assert error.count == sum(cell not in CITIES.labels for cell in cells.to_pylist())
    assert "'city'" in str(error)
    assert '"other"' in str(error)


NUMBERS = Attribute("code", categories=["1", "2"]).domain
WORDS = Attribute("flag", categories=["true", "false"]).domain
BITS = Attribute("bit", categories=[1, 0]).domain


@pytest.mark.parametrize(
    ("cells", "domain", "told"),
    [
        (
            pa.array(["1"]),
            CODES,
            'the column holds text (string), the categories are declared as integers: "1" is not 1.',
        ),
        (
            pa.array(["1"], pa.large_string()),
            CODES,
            'Declare categories ["1", "2", "4"], or cast the column, for instance with pandas astype("Int',
        ),
        (pa.array(["1"]).cast(pa.string_view()).dictionary_encode(), CODES, '"1" is not 1. Declare'),
        (pa.array([1]), NUMBERS, '1 is not "1". Declare categories [1, 2], or cast the column'),
        (pa.array([1.0]), NUMBERS, '1.0 is not "1". Declare categories [1, 2], or cast'),
        (pa.array([True]), BITS, "true is not 1. Declare categories [true, false], or cast"),
        (pa.array([1], pa.uint8()), FLAGS, "1 is not true. Declare categories [1, 0], or cast"),
        (pa.array([1.0]), FLAGS, "1.0 is not true. Declare categories [1, 0], or cast"),
        (pa.array(["true"]), FLAGS, '"true" is not true. Declare categories ["true", "false"], or replace'),
        (pa.array([True]), WORDS, 'true is not "true". Declare categories [true, false], or replace'),
        (pa.array([True]), CODES, "declared as integers such as 1. Declare the categories as they stand"),
        (pa.array([1]), CITIES, 'declared as text such as "york". Declare the categories as they stand'),
        (pa.array(["18"]), AGES, "is of type string, and its declared categories are bins of numbers. Cast"),
        (pa.array([True]), AGES, "is of type bool, and its declared categories are bins of numbers. Cast"),
        (pa.array([b"1"]), CITIES, "is of type binary, and its declared categories are text. Cast"),
        (pa.array([decimal.Decimal(1)]), CODES, "and its declared categories are integers. Cast"),
    ],
)
def test_r10_a_column_of_another_type_is_an_error_that_shows_both(
    cells: pa.Array, domain: Domain, told: str
) -> None:
    with pytest.raises(DataError) as caught:
        encode(cells, domain, "x")
    assert told in str(caught.value)
    assert caught.value.column == "x"


def test_r10_a_long_list_of_categories_is_cut() -> None:
    with pytest.raises(DataError, match=r'Declare categories \["0", "1", "2", "3", "4", "5", \.\.\.\], or'):
        encode(pa.array(["CANARY"]), Attribute("x", categories=50).domain, "x")


def test_r10_a_declared_other_category_takes_unseen_values_but_not_missing_ones() -> None:
    assert encode(pa.array(["b", "a", "A", ""]), OTHER, "city").tolist() == [1, 0, 1, 1]
    with pytest.raises(DataError, match="missing"):
        encode(pa.array(["a", None]), OTHER, "city")


@pytest.mark.parametrize(
    ("cells", "domain"),
    [
        (pa.array(["a", None]), MISSING),
        (pa.array(["a", None]).dictionary_encode(), MISSING),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None])), MISSING),
        (pa.array([1, None]), Domain("integer", (1, 2, None))),
        (
            pa.array([True, None]),
            Domain("boolean", (True, False, None)),
        ),
        (pa.array([0.5, None]), MISSING_BINS),
        (
            pa.array([0.5, math.nan]),
            MISSING_BINS,
        ),
    ],
    ids=["text", "dictionary", "null entry", "integer", "boolean", "bins", "NaN"],
)
def test_r11_missing_cells_are_the_declared_category(cells: pa.Array, domain: Domain) -> None:
    assert encode(cells, domain, "x").tolist() == [0, 2]
    assert encode(pa.nulls(3), domain, "x").tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("cells", "domain"),
    [
        (pa.array(["york", None]), CITIES),
        (pa.array([1, None]), CODES),
        (pa.array([20.0, math.nan]), AGES),
        (pa.array([20.0, math.inf]), OPEN),
        (pa.array([20.0, -math.inf]), OPEN),
        (pa.array([20.0, 17.99]), AGES),
        (pa.array([20.0, 65.01]), AGES),
    ],
    ids=["null", "null integer", "NaN", "inf", "-inf", "below", "above"],
)
def test_r11_without_a_declared_category_they_are_errors(cells: pa.Array, domain: Domain) -> None:
    with pytest.raises(DataError) as caught:
        encode(cells, domain, "x", first_row=100)
    assert (caught.value.count, caught.value.rows) == (1, (101,))


def test_r10_no_error_shows_a_cell() -> None:
    for cells, domain in [
        (pa.array(["CANARY-271828"]), CITIES),
        (pa.array([271828]), CODES),
        (pa.array([271828.5]), AGES),
        (pa.array([2**53 + 271829]), AGES),
        (pa.array([decimal.Decimal("271828.5")]), AGES),
    ]:
        with pytest.raises(DataError) as caught:
            encode(cells, domain, "x")
        assert "271828" not in str(caught.value)
        assert "271829" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "domain", "code"),
    [
        ("1", CODES, 0),
        ("4", CODES, 2),
        ("true", FLAGS, 0),
        ("false", FLAGS, 1),
        ("18", AGES, 0),
        ("+1.8e1", AGES, 0),
        ("30.", AGES, 1),
        (".5", OPEN, 1),
        ("-0", OPEN, 1),
        ("-3", OPEN, 0),
        ("true", CITIES, 3),
    ],
)
def test_cells_of_a_csv_file_are_the_plain_text_of_their_label(text: str, domain: Domain, code: int) -> None:
    assert encode(pa.array([text]), domain, "x", text=True).tolist() == [code]


@pytest.mark.parametrize(
    ("text", "domain"),
    [(text, CODES) for text in ("01", " 1", "1 ", "+1", "1.0", "\u0661", "")]
    + [(text, FLAGS) for text in ("True", "TRUE", "1", "t", "")]
    + [
        (text, AGES)
        for text in ("nan", "NaN", "inf", "-inf", "1e999", " 20", "20 ", "0x14", "2_0", "20,5", "")
    ],
)
def test_r10_other_spellings_in_a_csv_file_are_errors(text: str, domain: Domain) -> None:
    with pytest.raises(DataError) as caught:
        encode(pa.array([text]), domain, "x", text=True)
    assert caught.value.count == 1


def test_released_cells_are_labels() -> None:
    domain = MISSING_BINS
    assert encode(pa.array(["[1, 2]", None, "[0, 1)"]), domain, "x", released=True).tolist() == [1, 2, 0]
    with pytest.raises(DataError, match="The labels of the allocation are: "):
        encode(pa.array(["b"]), OTHER, "city", released=True)
    with pytest.raises(DataError, match="The labels of the allocation are: "):
        encode(pa.array(["a", None]), OTHER, "city", released=True)


domains = st.one_of(
    st.lists(
        st.text(min_size=1, max_size=5).filter(str.isprintable), min_size=2, max_size=9, unique=True
    ).map(lambda labels: {"categories": labels}),
    st.lists(st.integers(1 - 2**53, 2**53 - 1), min_size=2, max_size=9, unique=True).map(
        lambda labels: {"categories": labels}
    ),
    st.just({"categories": [False, True]}),
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=9, unique=True).map(
        lambda edges: {"bins": sorted(edges)}
    ),
)


@settings(max_examples=50)
@given(domains, st.booleans(), st.lists(st.integers(0, 9), max_size=20))
def test_labels_come_back_as_their_codes(fields: dict[str, object], missing: bool, picks: list[int]) -> None:
    domain = Attribute("x", **fields).domain
    if missing:
        domain = Domain(domain.kind, (*domain.labels, None), domain.edges, domain.other)
    codes = np.array([pick % domain.cardinality for pick in picks], dtype=code_type(domain.cardinality))
    released = decode(codes, domain)
    assert released.type == label_type(domain)
    assert released.to_pylist() == [domain.labels[code] for code in codes]
    back = encode(released, domain, "x", released=True)
    assert back.dtype == codes.dtype
    assert back.tolist() == codes.tolist()
    text = released.cast(pa.string())
    assert encode(text, domain, "x", released=True, text=True).tolist() == codes.tolist()


@pytest.mark.parametrize("labels", [2, 128, 129, 32768, 32769])
@pytest.mark.parametrize("missing", [False, True])
def test_r12_the_dictionary_is_the_declared_domain_whatever_is_reported(labels: int, missing: bool) -> None:
    names = tuple(f"c{i}" for i in range(labels))
    domain = Domain("text", (*names, None) if missing else names)
    codes = np.array([0, domain.cardinality - 1], dtype=code_type(domain.cardinality))
    for part in (codes, codes[:1], codes[:0]):
        released = decode(part, domain)
        assert released.dictionary.to_pylist() == list(names)
        assert released.to_pylist() == [domain.labels[code] for code in part]


@settings(max_examples=50)
@given(st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=30), st.data())
def test_chunks_slices_and_offsets_make_no_difference(cells: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(cells)))
    whole = encode(pa.array(cells), CODES, "x").tolist()
    assert encode(pa.array(cells).slice(start), CODES, "x").tolist() == whole[start:]
    assert encode(pa.array(cells).dictionary_encode().slice(start), CODES, "x").tolist() == whole[start:]
    chunked = pa.chunked_array([pa.array(cells[:start], pa.int64()), pa.array(cells[start:], pa.int64())])
    assert encode(chunked, CODES, "x").tolist() == whole
    assert encode(pa.chunked_array([], pa.int64()), CODES, "x").tolist() == []
