"""Cells that look like a declared category are errors that say in what they differ, and no value (R10)."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import DataError
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Domain
from budget_opt.tables.encoding import Encoder, encode
from budget_opt.tables.findings import Findings
from budget_opt.tables.look_alikes import look_alikes

LABELS = ["york", "Zürich", "1", "-2", "Σίσυφος"]
CITIES = Attribute("city", categories=LABELS).domain
BLANKS = "blanks around it"
CASE = "capital and small letters"
FORM = "its Unicode form (NFC against NFD)"
NUMBER = "how a number is written"
SEVERAL = "several of these"


@pytest.mark.parametrize(
    ("cell", "way"),
    [
        ("york ", BLANKS),
        ("\u00a0york\t", BLANKS),
        ("York", CASE),
        ("ZÜRICH", CASE),
        ("ΣΊΣΥΦΟΣ", CASE),
        (unicodedata.normalize("NFD", "Zürich"), FORM),
        ("01", NUMBER),
        ("+1", NUMBER),
        ("1.0", NUMBER),
        ("1.", NUMBER),
        ("-02.000", NUMBER),
        (" York", SEVERAL),
        (unicodedata.normalize("NFD", "zürich "), SEVERAL),
        (" 1.0", SEVERAL),
        ("yorks", None),
        ("+york", None),
        ("york.0", None),
        ("1.5", None),
        ("-1", None),
        ("11", None),
        ("10", None),
        ("yo rk", None),
        ("", None),
        ("1 1", None),
        ("1.0.0", None),
    ],
)
@pytest.mark.parametrize("kind", ["text", "views", "dictionary", "chunks"])
def test_r10_an_error_says_in_what_a_cell_differs(cell: str, way: str | None, kind: str) -> None:
    cells = pa.array([cell, "york", cell, None])
    column = {
        "text": cells,
        "views": cells.cast(pa.string_view()),
        "dictionary": cells.dictionary_encode(),
        "chunks": pa.chunked_array([cells.slice(0, 1), cells.slice(1)]),
    }[kind]
    assert look_alikes(column, np.array([0, 2]), LABELS) == ({} if way is None else {way: 2})


def test_r10_the_ways_are_counted_over_all_batches_with_five_rows_and_no_value() -> None:
    findings = Findings()
    encoder = Encoder(CITIES, "city")
    for first_row in (0, 4):
        encoder.codes(findings, pa.array(["york ", "YORK", "CANARY", "01"]), first_row)
    with pytest.raises(DataError) as caught:
        findings.require_none()
    assert (caught.value.column, caught.value.count) == ("city", 8)
    assert caught.value.rows == (0, 1, 2, 3, 4)
    assert (
        "8 cells (rows 0, 1, 2, 3, 4, ...); a declared category is equal to 2 but for blanks around it, "
        "2 but for capital and small letters, 2 but for how a number is written. Correct them"
    ) in str(caught.value)
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "labels", "way"),
    [
        ("True", [True, False], CASE),
        (" true", [True, False], BLANKS),
        ("1.0", [1, 2], NUMBER),
        ("01", [1, 2], NUMBER),
        ("1 ", [1, 2], BLANKS),
    ],
)
def test_r10_so_does_that_of_a_cell_of_a_csv_file(cell: str, labels: list[int | bool], way: str) -> None:
    with pytest.raises(DataError, match=f"1 but for {way}"):
        encode(pa.array([cell]), Attribute("x", categories=labels).domain, "x", text=True)


def test_r10_nothing_is_said_where_nothing_looks_alike_or_other_takes_it() -> None:
    with pytest.raises(DataError) as caught:
        encode(pa.array(["leeds"]), CITIES, "city")
    assert "equal to" not in str(caught.value)
    other = Domain("text", ("york", "rest"), None, 1)
    assert encode(pa.array(["York", "york"]), other, "city").tolist() == [1, 0]


@settings(max_examples=50)
@given(st.lists(st.text(alphabet=" yorkYR01+.", max_size=6), max_size=6))
def test_r10_every_cell_is_counted_in_the_first_way_that_makes_it_equal(cells: list[str]) -> None:
    cells = [cell for cell in cells if cell not in LABELS]
    small = {label.lower() for label in LABELS}
    blanks = [cell.strip() in LABELS for cell in cells]
    case = [cell.lower() in small and not blank for cell, blank in zip(cells, blanks, strict=True)]
    counts = look_alikes(pa.array(cells, pa.string()), np.arange(len(cells)), LABELS)
    assert counts.get(BLANKS, 0) == sum(blanks)
    assert counts.get(CASE, 0) == sum(case)
    assert sum(counts.values()) <= len(cells)
