"""Caps of nothing and plans that differ are told at the release that they pay for, once."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import budget_opt as bo

PROBLEM = bo.Problem(
    total_epsilon=1.0,
    attributes=[bo.Attribute("health", categories=2), bo.Attribute("income", categories=3)],
    moments=[bo.CrossMoment("health", "income")],
)
TABLE = pd.DataFrame({"health": [0, 1] * 6, "income": [0, 1, 2] * 4})


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Ledger:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    return bo.Ledger.create(tmp_path / "ledger.db")


def told(ledger: bo.Ledger, caps: bo.Caps, problem: bo.Problem = PROBLEM) -> list[list[str]]:
    """What two releases are told."""
    ledger.register("d", caps)
    said: list[list[str]] = [[], []]
    for lines in said:
        payer = bo.Payer("d", bo.Ledger.open(ledger.path), tell=lines.append)
        bo.randomize(TABLE, bo.uniform(problem), charge_to=payer)
    return said


def test_a_cap_on_a_name_that_is_mistyped_is_told_once(ledger: bo.Ledger) -> None:
    caps = bo.Caps(total=9.0, attributes={"helth": 2.5, "Income": 2.0}, groups={"g": (("income", "x"), 2.0)})
    first, second = told(ledger, caps)
    assert len(first) == 2
    assert first[0].startswith("warning: 'd': the cap on 'helth' is of no attribute of this allocation")
    assert "the cap on group 'g' names 'x'" in first[1]
    assert second == []


def test_plans_of_other_numbers_of_waves_are_told(ledger: bo.Ledger) -> None:
    first, second = told(ledger, bo.Caps(total=9.0, waves=3))
    assert len(first) == 1
    assert "registered with waves 3, and the problem plans 1" in first[0]
    assert second == []


def test_what_fits_is_told_nothing(ledger: bo.Ledger) -> None:
    caps = bo.Caps(total=9.0, attributes={"health": 2.0}, groups={"g": (("INCOME", "health"), 4.0)}, waves=2)
    assert told(ledger, caps, PROBLEM.with_fields(waves=2)) == [[], []]


def test_a_release_elsewhere_is_told_too(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0, attributes={"helth": 2.5}))
    said: list[str] = []
    bo.Payer("d", ledger, tell=said.append).reserve(bo.uniform(PROBLEM), "job 1")
    assert len(said) == 1
