"""The report says what a release means for the people in the table, and nothing that is more than true."""

from __future__ import annotations

import re

import pytest

import budget_opt as bo
from budget_opt.report.blocks import Block, Bullets, Facts, Paragraph, Section, Table, Warned
from budget_opt.report.content import content_of
from tests.accounting.test_meaning_words import OVERSTATED
from tests.report.conftest import Written
from tests.report.reported_problems import hand_made, health

pytestmark = pytest.mark.usefixtures("nothing_is_drawn")


def guarantee(allocation: bo.Allocation) -> Section:
    return section(allocation, "guarantee")


def section(allocation: bo.Allocation, name: str) -> Section:
    (found,) = (one for one in content_of(allocation).sections if one.name == name)
    return found


def said(block: Block) -> list[str]:
    if isinstance(block, Paragraph | Warned):
        return [block.text]
    if isinstance(block, Bullets):
        return list(block.items)
    return [f"{term}: {statement}" for term, statement in block.pairs] if isinstance(block, Facts) else []


def text_of(section: Section) -> str:
    return "\n".join(line for block in section.blocks for line in said(block)).replace("\u00a0", " ")


def test_the_table_of_single_columns_has_the_figures_of_the_meaning_rounded_up() -> None:
    allocation = hand_made(health())
    (table,) = (
        block
        for block in guarantee(allocation).blocks
        if isinstance(block, Table) and block.caption == "Seeing one column alone"
    )
    assert len(table.headings) == len(table.rows[0]) == 6
    assert table.headings[table.words[-1]] == "Prior"
    assert [row[0] for row in table.rows] == [one.name for one in allocation.attributes]
    for row, column in zip(table.rows, bo.meaning(allocation).columns, strict=True):
        cells = [cell.replace("\u00a0", " ") for cell in row]
        assert cells[5] == column.prior
        assert column.odds_factor <= float(cells[1]) <= column.odds_factor * 1.005
        for cell, figure in ((cells[3], column.guess_without), (cells[4], column.guess_with)):
            assert figure <= float(cell.removesuffix(" %")) / 100 + 1e-15 <= figure + 0.0011
    assert (
        table.rows[0][2] == "57.8\u00a0% to 95.7\u00a0%"
    )  # smokers are 20 %, so a reported one is less sure


def test_the_split_tells_how_often_a_value_is_reported_as_the_command_line_does() -> None:
    """Rounded up, as in `show`: two figures of one thing are one figure."""
    allocation = hand_made(health())
    (table,) = (block for block in section(allocation, "split").blocks if isinstance(block, Table))
    stated = [row[-1].replace("\u00a0", " ") for row in table.rows[:-1]]
    for cell, attribute in zip(stated, allocation.attributes, strict=True):
        assert attribute.truth_probability <= float(cell.removesuffix(" %")) / 100 + 1e-15
    lines = [line for line in str(allocation).splitlines() if line.strip()]
    for cell, attribute in zip(stated, allocation.attributes, strict=True):
        shown = next(line for line in lines if line.split()[0] == attribute.name)
        assert shown.rstrip().endswith(cell)


def test_the_guarantee_spells_out_records_persons_waves_public_columns_and_membership() -> None:
    problem = health(unit={"of": "person", "id": "person_id", "max_rows": 3}, waves=2)
    text = text_of(guarantee(hand_made(problem)))
    assert "A unit is a person (3 records each, 2 releases planned): 36 nats in all" in text
    assert "A person, told by the column person_id, may have up to 3 of them" in text
    assert "2 releases of the same people are planned" in text
    assert "Public column wave: released unprotected, every value as it is, because: the same" in text
    assert "What public columns tell: is outside every figure of this page" in text
    assert "Who is in the table is not hidden" in text
    assert "What a column shows when it is seen alone is no limit" in text
    assert "With a small delta: Beside the sum" in text
    assert "Delta: 0: there is no probability with which the guarantee fails" in text
    assert "can multiply the odds of anything about it by at most 404." in text


def test_a_guarantee_for_records_speaks_of_no_unit_beside_them() -> None:
    text = text_of(guarantee(hand_made(health())))
    assert "Whose privacy: One record: its values in all attributes at once\n" in text
    assert "A person with k records has k times the loss" in text
    assert "Every further release about the same people costs its own loss again" in text


def test_a_factor_that_limits_nothing_is_called_that() -> None:
    problem = health(total_epsilon=40.0)
    split = {"smoker": 20.0, "income": 2.5, "region": 8, "age": 8, "sex": 0.5}
    text = text_of(guarantee(bo.allocation_from(problem, split)))
    assert "This is no useful limit" in text
    assert "A suspicion of 1 % becomes" not in text


def test_the_page_never_says_more_than_is_guaranteed(written: Written) -> None:
    for overstated in OVERSTATED:
        assert not re.search(overstated, written.page.visible_text, re.IGNORECASE), overstated
