"""What one record may hold, and what is refused, never with a value in the message: R10, R11, R14-R16."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import DataError, InputError
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Domain
from budget_opt.randomizer.local.cells import Cells, UnfitCellError
from budget_opt.randomizer.local.randomizer import LocalRandomizer
from budget_opt.tables.encoding import encode
from tests.error_chain import everything_said

EvenSplit = Callable[..., Allocation]
RECORD = {"city": "york", "size": 4, "owns": True, "age": 41, "wave": "w1"}
TEXT = Attribute("x", categories=["caf\u00e9", "tea", "1", "True"]).domain
INTEGERS = Attribute("x", categories=[4, 1, 2]).domain
BOOLEANS = Attribute("x", categories=[False, True]).domain
BINS = Attribute("x", bins=[18, 30, 65]).domain
OPEN = Attribute("x", bins=[None, 0, None], scores=[0, 1]).domain
MISSING = Attribute("x", categories=["a", "b"], missing="category").domain
MISSING_BINS = Attribute("x", bins=[0, 1, 2], missing="category", missing_score=0).domain
OTHER = Attribute("x", categories=["a", "b", "rest"], other="rest").domain


class Drink(StrEnum):
    TEA = "tea"


class Loose(str):
    """Text with its own idea of what is equal, as some web frameworks have it."""

    def __eq__(self, other: object) -> bool:
        return self.casefold() == str(other).casefold()

    def __hash__(self) -> int:
        return hash(self.casefold())


class Unhashed(str):
    __hash__ = None  # what a class gets that defines __eq__ alone


class Loud(float):
    def __float__(self) -> float:
        raise RuntimeError("CANARY")


@pytest.mark.parametrize(
    ("domain", "value", "code"),
    [
        (TEXT, "caf\u00e9", 0),
        (TEXT, np.str_("tea"), 1),
        (TEXT, Drink.TEA, 1),
        (TEXT, Loose("tea"), 1),
        (TEXT, Unhashed("tea"), 1),
        (TEXT, "1", 2),
        (INTEGERS, 4, 0),
        (INTEGERS, np.int8(1), 1),
        (INTEGERS, np.uint64(2), 2),
        (BOOLEANS, False, 0),
        (BOOLEANS, np.True_, 1),
        (BINS, 18, 0),
        (BINS, math.nextafter(30, 0), 0),
        (BINS, 30.0, 1),
        (BINS, Decimal("64.9"), 1),
        (BINS, np.float32(20.5), 0),
        (BINS, Loud(20.5), 0),
        (BINS, np.int64(65), 1),
        (BINS, 65, 1),
        (OPEN, -0.0, 1),
        (OPEN, -5e-324, 0),
        (OPEN, 10**300, 1),
        (OPEN, np.finfo(float).max, 1),
        (MISSING, None, 2),
        (MISSING, math.nan, 2),
        (MISSING, np.float32("nan"), 2),
        (MISSING_BINS, Decimal("NaN"), 2),
        (MISSING_BINS, Decimal("sNaN"), 2),
        (MISSING_BINS, 2, 1),
        (OTHER, "something else", 2),
        (OTHER, "a ", 2),
    ],
)
def test_r10_r11_values_have_the_codes_of_their_categories(domain: Domain, value: Any, code: int) -> None:
    assert Cells(domain).code(value) == code


WRONG_TYPE, UNSEEN, ABSENT, OUTSIDE, NO_NUMBER = "of type", "none of the", "missing", "outside", "finite"


@pytest.mark.parametrize(
    ("domain", "value", "what"),
    [
        *(
            (TEXT, unseen, UNSEEN)
            for unseen in ("Tea", " tea", "tea ", "cafe\u0301", "", "2", "\ud800", Loose("TEA"))
        ),
        *((TEXT, wrong, WRONG_TYPE) for wrong in (1, True, 1.0, b"tea", ["tea"], Decimal(1), Fraction(1))),
        *((INTEGERS, unseen, UNSEEN) for unseen in (3, -1, 10**30, np.int64(5))),
        *((INTEGERS, wrong, WRONG_TYPE) for wrong in ("1", True, np.True_, 1.0, np.float64(1), Decimal(1))),
        *(
            (INTEGERS, wrong, WRONG_TYPE)
            for wrong in (np.timedelta64(1, "D"), 1 + 0j, math.inf, np.array([1]))
        ),
        *((BOOLEANS, wrong, WRONG_TYPE) for wrong in (1, 0, "true", 1.0, np.int8(1))),
        *((BINS, outside, OUTSIDE) for outside in (17.999, 65.001, -1, 10**300)),
        *((BINS, wrong, WRONG_TYPE) for wrong in ("20", True, np.False_, Fraction(20), np.timedelta64(20))),
        *((OPEN, infinite, NO_NUMBER) for infinite in (math.inf, -math.inf, 10**400, -(10**400))),
        *((OPEN, infinite, NO_NUMBER) for infinite in (Decimal("inf"), Decimal("1e400"), np.float32("inf"))),
        *((domain, None, ABSENT) for domain in (TEXT, INTEGERS, BOOLEANS, BINS, OTHER)),
        *((domain, math.nan, ABSENT) for domain in (TEXT, INTEGERS, BOOLEANS, BINS, OTHER)),
        (BINS, Decimal("sNaN"), ABSENT),
        (OTHER, 1, WRONG_TYPE),
        (MISSING, np.datetime64("NaT"), WRONG_TYPE),
        (MISSING_BINS, math.inf, NO_NUMBER),
    ],
)
def test_r10_r11_r14_what_has_no_category_is_refused(domain: Domain, value: Any, what: str) -> None:
    with pytest.raises(UnfitCellError, match=what):
        Cells(domain).code(value)


CELLS = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([18, 29, 30, 64, 65, 17, 66, 18.0, 65.0]),
)


@given(CELLS, st.sampled_from([BINS, OPEN]))
def test_r10_a_number_falls_into_the_bin_that_it_has_in_a_table(value: float, domain: Domain) -> None:
    def in_a_table() -> int | None:
        try:
            return int(encode(pa.array([value]), domain, "x")[0])
        except DataError:
            return None

    def alone() -> int | None:
        try:
            return Cells(domain).code(value)
        except UnfitCellError:
            return None

    assert alone() == in_a_table()


@given(st.text(max_size=5), st.sampled_from(["NFC", "NFD"]))
def test_r10_text_equals_text_by_code_points(text: str, form: Any) -> None:
    labels = ("ae\u0301", "\u00e4", "b")
    domain = Attribute("x", categories=labels, other="b").domain
    value = unicodedata.normalize(form, text)
    assert Cells(domain).code(value) == (labels.index(value) if value in labels else 2)


@pytest.mark.parametrize(
    ("change", "column", "what"),
    [
        ({"city": 27182818}, "city", "of type int"),
        ({"size": 27182818}, "size", "none of the 3 declared"),
        ({"size": "27182818"}, "size", "of type str"),
        ({"owns": None}, "owns", "missing, which is not a declared category"),
        ({"age": 2.7182818}, "age", r"outside the bins from 18\.0 to inf"),
        ({"wave": ["27182818"]}, "wave", "no plain value"),
        ({"wave": {"x": 27182818}}, "wave", "no plain value"),
        ({"wave": np.array([27182818])}, "wave", "no plain value"),
        ({"other": 27182818}, "other", "neither an attribute"),
        ({27182818.5: 1}, "27182818.5", "neither an attribute"),
    ],
)
def test_r10_r16_r35_a_fault_is_told_by_name_and_no_value_is(
    allocation: Allocation, change: dict[Any, Any], column: str, what: str
) -> None:
    with pytest.raises(DataError, match=what) as caught:
        LocalRandomizer(allocation).report({**RECORD, **change})
    assert caught.value.column == column
    assert repr(column) in str(caught.value)
    said = everything_said(caught.value).replace("27182818.5", "")
    assert not any(canary in said for canary in ("27182818", "2.7182818"))


def test_r10_all_faults_of_a_record_are_told_at_once(allocation: Allocation) -> None:
    with pytest.raises(DataError) as caught:
        LocalRandomizer(allocation).report({**RECORD, "size": 3, "owns": 1, "age": "x"})
    assert [line.split(":")[0] for line in str(caught.value).splitlines()[1:]] == [
        "  'size'",
        "  'owns'",
        "  'age'",
    ]


@pytest.mark.parametrize("absent", ["city", "size", "owns", "age", "wave"])
def test_r14_a_missing_name_is_refused_and_other_names_are_not_printed(
    allocation: Allocation, absent: str
) -> None:
    record = {name: value for name, value in RECORD.items() if name != absent}
    with pytest.raises(DataError, match=f"'{absent}': absent") as caught:
        LocalRandomizer(allocation).report({**record, "CANARY": 1, f"{absent} ": 2})
    assert caught.value.column == absent
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("record", [[], "york", None, 3, [("city", "york")], pa.table({"city": ["york"]})])
def test_r14_a_record_is_a_mapping(allocation: Allocation, record: Any) -> None:
    with pytest.raises(DataError, match="must map names to values"):
        LocalRandomizer(allocation).report(record)


def test_r15_r16_dropped_columns_are_left_out_and_the_order_of_the_record_does_not_show(
    allocation: Allocation,
) -> None:
    local = LocalRandomizer(allocation)
    record = {"person": "CANARY", **dict(reversed(RECORD.items()))}
    report = local.report(record)
    assert tuple(report) == local.columns == ("city", "size", "owns", "age", "wave")
    assert report["wave"] == "w1"
    assert record == {"person": "CANARY", **RECORD}


def test_r15_reports_are_labels_of_the_declared_types(allocation: Allocation) -> None:
    local = LocalRandomizer(allocation)
    record = {"city": np.str_("york"), "size": np.int64(4), "owns": np.True_, "age": None, "wave": None}
    reports = [local.report(record) for _ in range(500)]
    seen = {name: {(type(report[name]), report[name]) for report in reports} for name in local.columns}
    assert seen == {
        "city": {(str, "york"), (str, "leeds"), (str, 'hull, "the" port')},
        "size": {(int, 4), (int, 1), (int, 2), (type(None), None)},
        "owns": {(bool, True), (bool, False)},
        "age": {(str, "[18, 30)"), (str, "[30, 65)"), (str, "[65, inf)"), (type(None), None)},
        "wave": {(type(None), None)},
    }


@pytest.mark.parametrize("given_", [None, 3, b"x", ["a.json"]])
def test_what_is_no_allocation_is_refused(given_: Any) -> None:
    with pytest.raises(InputError, match="must be an Allocation, the path of its file"):
        LocalRandomizer(given_)


def test_an_allocation_a_path_and_a_parsed_file_are_the_same(tmp_path: Path, allocation: Allocation) -> None:
    path = tmp_path / "a.json"
    allocation.write(path)
    sources = (allocation, path, str(path), allocation.to_dict())
    made = [LocalRandomizer(source) for source in sources]
    assert {repr(local) for local in made} == {
        f"LocalRandomizer(city, size, owns, age, wave; loss {allocation.loss:.6g} nats a report)"
    }
    assert {local.loss for local in made} == {allocation.loss}
    with pytest.raises(bo.AllocationError, match="cannot be read"):
        LocalRandomizer(tmp_path / "none.json")
