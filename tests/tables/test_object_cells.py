"""Columns of Python objects: cells of one kind, told by their exact type (R10, R11)."""

from __future__ import annotations

import datetime
import decimal
import enum
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.reading import read_codes
from tests.error_chain import everything_said

TEXT = Domain("text", ("a", "b", None))
CODES = Domain("integer", (1, 2, 4, None))
FLAGS = Domain("boolean", (True, False, None))
BINS = Domain("bins", ("[0, 1)", "[1, 2]", None), (0.0, 1.0, 2.0))
GAPS = [None, np.nan, pd.NA, pd.NaT, float("nan"), np.float32("nan"), np.datetime64("NaT")]


class Size(enum.IntEnum):
    SMALL = 1


def objects(cells: list[Any]) -> pd.DataFrame:
    values = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        values[place] = cell
    return pd.DataFrame({"x": pd.Series(values, dtype=object)})


def codes_of(frame: pd.DataFrame, domain: Domain) -> list[int]:
    return read_codes(frame, {"x": domain})["x"].tolist()


@pytest.mark.parametrize("gap", GAPS, ids=repr)
def test_r11_every_kind_of_gap_is_missing_whatever_the_others_are(gap: object) -> None:
    for domain, cells in [(TEXT, ["b", "a"]), (CODES, [2, 1]), (FLAGS, [False, True]), (BINS, [1.5, 0])]:
        missing = domain.missing
        assert codes_of(objects([cells[0], gap, cells[1]]), domain) == [1, missing, 0]
        assert codes_of(objects([gap, gap]), domain) == [missing, missing]
    with pytest.raises(DataError, match=r"missing, which is not a declared category: 1 cell \(row 1\)"):
        codes_of(objects(["a", gap]), Domain("text", ("a", "b")))


@pytest.mark.parametrize(
    ("cells", "domain"),
    [
        ([np.str_("b"), "a"], TEXT),
        ([np.int8(2), 1], CODES),
        ([np.uint64(2), Size.SMALL], CODES),
        ([2.0, 1], CODES),
        ([np.float32(2), np.float64(1)], CODES),
        ([np.float16(2), np.int64(1)], CODES),
        ([np.bool_(False), True], FLAGS),
        ([np.float32(1.5), 0], BINS),
        ([decimal.Decimal("1.5"), decimal.Decimal(0)], BINS),
    ],
)
def test_r10_scalars_of_numpy_are_what_they_say(cells: list[Any], domain: Domain) -> None:
    assert codes_of(objects(cells), domain) == [1, 0]
    assert codes_of(objects([*cells, None]), domain) == [1, 0, domain.missing]


@pytest.mark.parametrize("domain", [TEXT, CODES, FLAGS, BINS], ids=lambda domain: domain.kind)
@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([1, "1", 1], "integers in 2 cells, text in 1 (row 1). Cast"),
        ([True, True, 1], "booleans in 2 cells, integers in 1 (row 2)"),
        ([1, 1, np.bool_(True)], "integers in 2 cells, booleans in 1"),
        ([True, True, "true"], "booleans in 2 cells, text in 1"),
        ([1.0, 1.0, "a"], "floating-point numbers in 2 cells, text in 1"),
        (["a", "a", b"a"], "text in 2 cells, bytes in 1"),
        ([1, 1, decimal.Decimal(1)], "integers in 2 cells, decimals in 1"),
        ([1, 1, datetime.date(2020, 1, 1)], "integers in 2 cells, dates or times in 1"),
        ([1, 1, ("CANARY",)], "integers in 2 cells, other objects in 1"),
        (
            ["CANARY", None, *[7] * 9, "CANARY"],
            "integers in 9 cells, text in 2 (rows 0, 11)",
        ),
        ([*[7] * 9, *["CANARY"] * 8], "text in 8 (rows 9, 10, 11, 12, 13, ...)"),
    ],
)
def test_r10_r35_cells_of_several_kinds_are_refused_and_counted(
    cells: list[Any], told: str, domain: Domain
) -> None:
    frames = [objects(cells)]
    if all(isinstance(cell, int | str | None) for cell in cells) and True not in cells:
        frames.append(
            pd.DataFrame({"x": pd.Categorical(cells, categories=pd.Index([7, "CANARY"], dtype=object))})
        )
    for frame in frames:
        with pytest.raises(DataError, match="column 'x': mixes types: ") as caught:
            read_codes(frame, {"x": domain})
        assert told in str(caught.value)
        assert "CANARY" not in everything_said(caught.value)
        with pytest.raises(DataError) as caught:
            FrameSource(frame).column("x")
        assert (caught.value.column, len(caught.value.rows)) == ("x", min(5, caught.value.count))


@pytest.mark.parametrize("cell", [2**63, 2**70, -(2**70)])
def test_r10_r35_integers_beyond_64_bits_are_refused_without_one(cell: int) -> None:
    with pytest.raises(DataError, match="column 'x'") as caught:
        codes_of(objects([1, cell]), CODES)
    assert str(cell) not in everything_said(caught.value)


kinds = st.sampled_from(
    [
        st.sampled_from(["a", "b", "A", "1"]),
        st.sampled_from([1, 2, 4, 3, np.int16(1), 1.0, 1.5, np.float32(2)]),
        st.booleans(),
        st.binary(max_size=1),
    ]
)


@settings(max_examples=50)
@given(st.data(), st.sampled_from([TEXT, CODES, FLAGS]))
def test_r10_r11_a_cell_is_found_exactly_where_its_type_and_value_are_declared(
    data: st.DataObject, domain: Domain
) -> None:
    """The oracle compares types first: Python calls True, 1 and 1.0 equal."""
    pools = data.draw(st.lists(kinds, min_size=1, max_size=2))
    cells = data.draw(st.lists(st.one_of(st.sampled_from(GAPS), *pools), max_size=5))

    def place(cell: Any) -> int | None:
        if pd.isna(cell):
            return domain.missing
        if domain.kind == "integer" and not isinstance(cell, bool | np.bool_ | str | bytes):
            return next((i for i, label in enumerate(domain.labels) if label == float(cell)), None)
        return next(
            (i for i, label in enumerate(domain.labels) if type(label) is type(cell) and label == cell), None
        )

    expected = [place(cell) for cell in cells]
    if None in expected:
        with pytest.raises(DataError):
            codes_of(objects(cells), domain)
    else:
        assert codes_of(objects(cells), domain) == expected


def test_a_category_that_mixes_integers_and_their_doubles_is_read_as_numbers() -> None:
    frame = pd.DataFrame({"x": pd.Categorical([1, 2.0, None], categories=pd.Index([2.0, 1], dtype=object))})
    assert codes_of(frame, CODES) == [0, 1, 3]
    assert pa.types.is_floating(FrameSource(frame).column("x").type)
