"""Tables of numbers on narrow pages: everything is there, and nothing is cut."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from budget_opt.tables.printing import plain_text
from budget_opt.tables.wide import Column, WideTable

LABELS = ["smoker x income", "[red]region[/red]"]
COLUMNS = [Column(f"split {i}", [f"{i}.12345678 %", f">= {i}0.0 %, <= {i}5.0 %"]) for i in range(1, 9)]


@pytest.mark.parametrize("width", [50, 80, 100, 300])
def test_no_cell_is_cut_or_broken_at_any_width(width: int) -> None:
    text = plain_text(WideTable(Column("moment", LABELS), COLUMNS), width)
    assert max(map(cell_len, text.splitlines())) <= width
    for column in COLUMNS:
        assert column.heading in text
        for cell in column.cells:
            assert any(cell in line for line in text.splitlines())
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert text.count("moment") == text.count("smoker x income") == text.count("[red]region[/red]")
    assert (text.count("moment") == 1) == (width == 300)


def test_long_labels_and_headings_give_way_to_the_numbers() -> None:
    column = Column("性別" * 20 + " and so on", ["12.3 %"])
    text = plain_text(WideTable(Column("moment", ["x" * 200]), [column, Column("b", ["45.6 %"])]), 60)
    assert max(map(cell_len, text.splitlines())) <= 60
    assert text.count("x") >= 200
    assert text.count("性別") == 20
    assert "12.3 %" in text
    assert "45.6 %" in text


def test_a_line_is_left_where_it_is_asked_for() -> None:
    first = Column("epsilon of", ["a", "b", "spent"])
    lines = plain_text(WideTable(first, [Column("best", ["1", "2", "3"])], breaks=(2,))).splitlines()
    assert [line.strip().split()[:1] for line in lines[-4:]] == [["a"], ["b"], [], ["spent"]]
