"""The findings of benchmarks/wang.py say what the formulas say, and stand in a table."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from benchmarks.wang import as_text
from benchmarks.wang_claims import findings
from benchmarks.wang_graph_rows import GraphRow
from benchmarks.wang_measured import measured
from benchmarks.wang_table import rows


def made_up(statistic: str, epsilon: float, mechanism: str, error: float) -> GraphRow:
    return GraphRow(statistic, epsilon, mechanism, error, 3 * error, 2.0, error, 0.95)


@pytest.mark.slow
def test_every_claim_has_a_verdict_and_theorem_4_fails_where_the_issue_says() -> None:
    found = list(findings())
    assert len(found) == 11
    assert {one.verdict for one in found} == {"proved", "holds", "fails", "other reason"}
    assert all(text and "|" not in text and "nan" not in text for one in found for text in astuple(one))
    by_theorem = {
        number: one for one in found for number in "234" if one.claim.startswith(f"Theorem {number}")
    }
    assert [by_theorem[number].verdict for number in "234"] == ["proved", "proved", "fails"]
    assert "0.56413 against 0.56506" in by_theorem["4"].fails
    assert "5.336 against 5.544" in by_theorem["4"].fails


def test_the_page_has_a_line_for_every_claim_and_row() -> None:
    table = rows([1.0, 6.0], 2_000)
    graph = [
        made_up(statistic, epsilon, mechanism, error)
        for statistic in ("degree", "triangles", "total")
        for epsilon, error in ((1.0, 9.0), (8.0, 1.0))
        for mechanism in ("RR", "LM")
    ]
    claims = list(measured(table, graph))
    assert [one.verdict for one in claims] == ["fails", "holds", "fails"]
    assert "3.59 times at 1" in claims[2].fails  # sqrt(2 / pi) 9 / 2, and below 1 at epsilon 8
    assert " at 8" not in claims[2].fails
    page = as_text(claims, table, graph, graph, 1.0).splitlines()
    assert sum(line.startswith("| ") for line in page) == len(claims) + len(table) // 2 + len(graph) + 3
