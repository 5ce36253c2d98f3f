"""What is randomized together stands once in the report, with its one epsilon, and says what that costs."""

from __future__ import annotations

from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.tables.printing import percent
from tests.report.parsed_page import Page
from tests.report.reported_problems import health

pytestmark = pytest.mark.usefixtures("nothing_is_drawn")


@pytest.fixture(scope="module")
def clustered() -> bo.Allocation:
    return bo.uniform(health(clusters=[["smoker", "age"]]))


def test_the_table_of_the_split_has_a_row_a_block_whose_shares_make_the_whole(
    clustered: bo.Allocation, tmp_path: Path
) -> None:
    page = Page(bo.report(clustered, tmp_path / "r.html").read_text())
    rows = {row[0]: row for row in page.table("The split of the budget")[1:]}
    assert set(rows) == {*(block.name for block in clustered.blocks), "All attributes together"}
    assert rows["smoker + age"][2] == percent(clustered.blocks[0].epsilon / clustered.spent_epsilon)
    assert sum(float(row[1]) for name, row in rows.items() if name != "All attributes together") == (
        pytest.approx(clustered.spent_epsilon, rel=1e-3)
    )


def test_the_report_says_what_a_change_of_one_member_costs_and_which_moments_are_no_product(
    clustered: bo.Allocation, tmp_path: Path
) -> None:
    text = bo.report(clustered, tmp_path / "r.html").read_text()
    assert "a change of one member alone costs all of it" in text
    assert "as one value" in text
    assert "With two members of one cluster: smoker x age x income." in text


def test_the_question_tells_merged_categories_and_limits_of_distortion(tmp_path: Path) -> None:
    asked = health(
        attributes=[
            bo.Attribute("smoker", categories=2, distortion_max=0.3),
            bo.Attribute("income", categories=5, grouping=[[0, 1], [2, 3, 4]]),
            *health().attributes[2:],
        ]
    )
    page = Page(bo.report(bo.uniform(asked), tmp_path / "r.html", problem=asked).read_text())
    rows = {row[0]: row for row in page.table("Attributes and their categories")[1:]}
    assert rows["smoker"][3] == "enough for at most 30.0 % of its cells to be changed"
    assert rows["income"][2] == "0 or 1, 2 to 4 (merged of 5)"


def test_both_splits_have_a_row_a_block_which_add_up_to_what_is_spent(
    clustered: bo.Allocation, tmp_path: Path
) -> None:
    split = bo.allocation_from(clustered.question, {one.name: 0.9 * one.epsilon for one in clustered.blocks})
    page = Page(bo.report(split, tmp_path / "r.html").read_text())
    rows = {row[0]: [float(cell) for cell in row[1:]] for row in page.table("Epsilon of both splits")[1:]}
    rows.pop("Objective")
    together = rows.pop("All together")
    assert set(rows) == {block.name for block in clustered.blocks}
    assert [sum(column) for column in zip(*rows.values(), strict=True)] == pytest.approx(together, rel=1e-3)


def test_a_source_that_keeps_a_distortion_is_told_as_a_pin(tmp_path: Path) -> None:
    source = {"distributions": [[0.7, 0.2, 0.1]]}
    asked = health(
        attributes=[
            *health().attributes,
            bo.Attribute("drug", categories=3, source=source, distortion_max=0.2, epsilon_max=4),
        ],
        total_epsilon=9.0,
    )
    pinned = asked.attribute("drug").pin
    page = Page(bo.report(bo.uniform(asked), tmp_path / "r.html", problem=asked).read_text())
    told = {row[0]: row for row in page.table("Attributes and their categories")[1:]}["drug"][3]
    assert told.startswith(f"pinned at {pinned:.4g}")
    assert "20.0 % of its cells" in told
