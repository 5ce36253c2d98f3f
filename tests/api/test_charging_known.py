"""What is free, and which data are known already: a repetition, the same people elsewhere."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import budget_opt as bo
from budget_opt.randomizer import entropy
from tests.api.charging_desk import ALLOCATION, PROBLEM, ROWS, Desk, table_of


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


def fail(*_: object, **_options: object) -> None:
    raise bo.InputError("it fails")


def test_r22_a_keyed_release_that_is_made_again_is_free_from_table_to_file_and_in_every_format(
    desk: Desk,
) -> None:
    release = bo.KeyedRelease("survey")
    first = bo.randomize(desk.table, ALLOCATION, release=release, charge_to=desk.payer)
    assert bo.randomize(desk.table, ALLOCATION, release=release, charge_to=desk.payer).equals(first)
    frame = bo.randomize(pl.from_pandas(desk.table), ALLOCATION, release=release, charge_to=desk.payer)
    assert frame.equals(pl.from_pandas(first))
    desk.write(desk.table, "data.parquet")
    for source, target in (("data.csv", "r.csv"), ("data.parquet", "s.csv"), ("data.csv", "s.parquet")):
        desk.release(target, source, release=release)
    assert desk.spent() == 2.0
    assert (desk.statuses().count("confirmed"), desk.said) == (1, [])


def test_r22_where_nothing_is_left_a_repetition_is_made_and_anything_else_leaves_no_file(
    tmp_path: Path,
) -> None:
    desk, release = Desk(tmp_path, releases=1), bo.KeyedRelease("survey")
    desk.release(release=release, row_id="person")
    desk.write(desk.table.sample(frac=1, random_state=1), "turned.parquet")
    desk.release("again.csv", "turned.parquet", release=release, row_id="person")
    assert pd.read_csv(tmp_path / "again.csv").equals(pd.read_csv(tmp_path / "r.csv"))
    found = bo.randomize(desk.table, ALLOCATION, release=release, row_id="person", charge_to=desk.payer)
    assert len(found) == ROWS
    before = desk.files()
    # one cell of another value may have the same report by chance, a hundred of them have not
    desk.write(desk.table.assign(a=(desk.table["a"] + (np.arange(ROWS) < 100)) % 5), "changed.csv")
    others: list[tuple[str, dict[str, Any]]] = [
        ("changed.csv", {"release": release, "row_id": "person"}),
        ("data.csv", {"release": bo.KeyedRelease("survey"), "row_id": "person"}),
        ("data.csv", {"release": release, "row_id": "person", "row_order": "public"}),
        ("data.csv", {"release": release}),
        ("data.csv", {}),
    ]
    told = list[object]()
    for source, options in others:
        with pytest.raises(bo.BudgetExceededError):
            desk.release("t.csv", source, progress=lambda *rows: told.append(rows), **options)
    assert told == []
    assert desk.files() - before == {"changed.csv"}
    assert desk.spent() == 2.0


def test_r22_data_that_change_between_the_two_readings_are_no_repetition(tmp_path: Path) -> None:
    desk, release = Desk(tmp_path, releases=1), bo.KeyedRelease("survey")
    desk.release(release=release)
    changed = desk.table.assign(a=(desk.table["a"] + 1) % 5)
    with pytest.raises(bo.InputError, match="changed while they were read"):
        desk.release("s.csv", release=release, before_words=lambda: desk.write(changed) and None)
    assert not (tmp_path / "s.csv").exists()


def test_a_keyed_release_of_another_number_is_charged(desk: Desk) -> None:
    for number in (1, 2):
        desk.release(f"r{number}.csv", release=bo.KeyedRelease("survey", number))
    assert desk.spent() == 4.0


def test_r22_the_same_people_under_another_name_are_noticed_before_anything_is_drawn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.ledger.register("people", bo.Caps(total=10.0))
    desk.release()
    turned = desk.table.sample(frac=1, random_state=2).rename(columns={"a": "c", "b": "d"})
    attributes = [
        bo.Attribute("d", categories=["y", "x"]),
        bo.Attribute("c", categories=[4, 3, 2, 1, 0]),
    ]
    other = bo.uniform(PROBLEM.with_fields(attributes=attributes, moments=[bo.CrossMoment("c", "d")]))
    with pytest.warns(
        UserWarning, match="'people': its data are the same table as data that 'survey' paid for"
    ):
        bo.randomize(turned, other, charge_to=bo.Payer("people", desk.ledger))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bo.randomize(table_of(9), ALLOCATION, charge_to=bo.Payer("people", desk.ledger))
    desk.ledger.register("third", bo.Caps(total=10.0))
    monkeypatch.setattr(entropy.os, "urandom", lambda count: b"")
    monkeypatch.setattr("budget_opt.api.charging.charging.new_name", lambda: "0" * 32)
    third = bo.Payer("third", desk.ledger, tell=desk.said.append)
    with pytest.raises(bo.RandomSourceError):
        bo.randomize_file(desk.folder / "data.csv", ALLOCATION, desk.folder / "t.csv", charge_to=third)
    assert "'third': its data are the same table as data that 'survey' paid for" in "".join(desk.said)


@pytest.mark.parametrize("in_memory", [True, False])
def test_r22_the_same_data_are_noticed_where_other_attributes_have_the_budget(
    desk: Desk, in_memory: bool
) -> None:
    """Rows are added, so that the columns one by one say nothing."""
    wide = [bo.Attribute(f"w{i}", categories=6) for i in range(5)]
    random = np.random.default_rng(4)
    table = pd.DataFrame({one.name: random.integers(0, 6, ROWS) for one in wide})
    first = bo.Problem(total_epsilon=2.0, attributes=wide, moments=[bo.CrossMoment("w0", "w1")])
    second = first.with_fields(moments=[bo.CrossMoment("w2", "w3")])
    one, other = (bo.solve(problem) for problem in (first, second))
    assert {a.name for a in one.attributes if a.epsilon} == {"w0", "w1"}
    bo.randomize(table, one, charge_to=desk.payer)
    grown = pd.concat([table, table.head(9)]).sample(frac=1, random_state=1)
    desk.ledger.register("people", bo.Caps(total=10.0))
    payer = bo.Payer("people", desk.ledger, tell=desk.said.append)
    if in_memory:
        bo.randomize(grown, other, charge_to=payer)
    else:
        bo.randomize_file(desk.write(grown), other, desk.folder / "r.csv", charge_to=payer)
    assert "share most records with data that 'survey' paid for" in "".join(desk.said)


def test_what_has_no_budget_may_hold_anything(desk: Desk) -> None:
    wide = [bo.Attribute(f"w{i}", categories=6) for i in range(3)]
    problem = bo.Problem(total_epsilon=2.0, attributes=wide, moments=[bo.CrossMoment("w0", "w1")])
    table = pd.DataFrame({"w0": [1, 2], "w1": [3, 4], "w2": [0.5, 77.0]})
    bo.randomize_file(desk.write(table), bo.solve(problem), desk.folder / "r.csv", charge_to=desk.payer)
    bo.randomize(table, bo.solve(problem), charge_to=desk.payer)
    assert desk.statuses() == ["confirmed", "confirmed"]
