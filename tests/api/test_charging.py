"""What a release is charged, when the charge stays, and what is free: R7, R10, R19, R22 (`api.charging`)."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.api.publishing import Place, publish
from budget_opt.api.recording import record_release
from budget_opt.randomizer import entropy
from budget_opt.tables.fingerprints import Fingerprint
from budget_opt.verifier.release import ReleaseJudge

ROWS = 700
PROBLEM = bo.Problem(
    total_epsilon=2.0,
    attributes=[bo.Attribute("a", categories=5), bo.Attribute("b", categories=["x", "y"])],
    moments=[bo.CrossMoment("a", "b")],
    public=[{"name": "wave", "why": "the same for everybody"}],
    dropped=["person"],
)
ALLOCATION = bo.uniform(PROBLEM)
KEPT, BACK = "note: the charge stays", "note: nothing is charged to 'survey'"


def table_of(seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": np.arange(ROWS),
            "a": random.integers(0, 5, ROWS),
            "b": random.choice(["x", "y"], ROWS),
            "wave": np.arange(ROWS) % 3,
        }
    )


class Desk:
    """A folder with a table, and a ledger that allows `releases` releases of it; `said` is what is told."""

    def __init__(self, folder: Path, releases: int = 2) -> None:
        self.folder, self.said = folder, list[str]()
        self.table = table_of(1)
        self.table.to_csv(folder / "data.csv", index=False)
        ALLOCATION.write(folder / "allocation.json")
        self.ledger = bo.Ledger.create(folder / "ledger.db")
        self.ledger.register("survey", bo.Caps(total=2.0 * releases))
        self.payer = bo.Payer("survey", self.ledger, tell=self.said.append)

    def write(self, table: pd.DataFrame, target: str = "data.csv") -> Path:
        path = self.folder / target
        (table.to_parquet if target.endswith("parquet") else table.to_csv)(path, index=False)
        return path

    def release(self, target: str = "r.csv", source: str = "data.csv", **options: Any) -> Any:
        asked = bo.FileOptions(**options)
        return bo.randomize_file(
            self.folder / source, ALLOCATION, self.folder / target, asked, charge_to=self.payer
        )

    def spent(self) -> float:
        return self.ledger.spent("survey").total

    def statuses(self) -> list[str]:
        return [release.status for release in self.ledger.releases("survey")]

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"data.csv", "allocation.json", "ledger.db"}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


def fail(*_: object, **_options: object) -> None:
    raise bo.InputError("it fails")


def test_r22_every_release_of_fresh_words_is_charged_and_the_cap_stops_the_next(desk: Desk) -> None:
    bo.randomize(desk.table, ALLOCATION, charge_to=desk.payer)
    desk.release()
    assert (desk.spent(), desk.statuses()) == (4.0, ["confirmed", "confirmed"])
    for refused in (
        lambda: bo.randomize(desk.table, ALLOCATION, charge_to=desk.payer),
        lambda: desk.release("s.csv"),
    ):
        with pytest.raises(bo.BudgetExceededError) as raised:
            refused()
        assert (raised.value.asked, raised.value.left) == (2.0, 0.0)
    assert (desk.files(), desk.said, desk.spent()) == ({"r.csv"}, [], 4.0)


def test_a_data_set_that_is_not_registered_pays_for_nothing(desk: Desk) -> None:
    with pytest.raises(bo.InputError, match="is not a data set of this ledger"):
        bo.randomize(desk.table, ALLOCATION, charge_to=bo.Payer("other", desk.ledger))


def test_a_payer_that_is_none_is_refused(desk: Desk) -> None:
    with pytest.raises(bo.InputError, match=r"Ledger\.open"):
        bo.Payer("survey", "ledger.db")
    for call in (
        lambda: bo.randomize(desk.table, ALLOCATION, charge_to="survey"),
        lambda: bo.randomize_file(
            desk.folder / "data.csv", ALLOCATION, desk.folder / "r.csv", charge_to=desk.ledger
        ),
    ):
        with pytest.raises(bo.InputError, match="Payer"):
            call()


def test_without_a_ledger_a_payer_has_the_default_one(desk: Desk) -> None:
    with pytest.raises(bo.InputError, match=r"ledger\.db"):
        bo.Payer("survey")
    bo.Ledger.create(bo.Ledger.default_path()).register("survey", bo.Caps(total=2.0))
    bo.randomize(desk.table, ALLOCATION, charge_to=bo.Payer("survey"))
    assert bo.Ledger.open(bo.Ledger.default_path()).left("survey").total == 0.0


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("rows", [ROWS, 200_000])
def test_r10_a_faulty_cell_costs_nothing_wherever_it_is_as_nothing_is_drawn(
    desk: Desk, row_order: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The averaging attack by a bad cell in the last row: every row before it would be drawn for nothing."""
    desk.write(pd.concat([desk.table.sample(rows, replace=True), desk.table.head(1).assign(a=7)]))
    monkeypatch.setattr(entropy.os, "urandom", lambda count: pytest.fail("a word is drawn"))
    monkeypatch.setattr("budget_opt.api.charging.new_name", lambda: "0" * 32)
    with pytest.raises(bo.DataError, match="column 'a'"):
        desk.release(row_order=row_order, progress=lambda *_: pytest.fail("a row is released"))
    assert (desk.spent(), desk.statuses(), desk.files()) == (0.0, [], set())
    assert desk.said == [f"{BACK}: no report was drawn"]


def test_r10_a_faulty_table_or_a_missing_column_is_never_even_reserved(desk: Desk) -> None:
    with pytest.raises(bo.DataError):
        bo.randomize(desk.table.assign(a=7), ALLOCATION, charge_to=desk.payer)
    desk.write(desk.table.drop(columns="a"))
    with pytest.raises(bo.DataError):
        desk.release()
    assert desk.statuses() == []


def test_r10_ids_that_stand_twice_are_told_before_anything_is_reserved(desk: Desk) -> None:
    desk.write(desk.table.assign(person=1))
    with pytest.raises(bo.DataError, match="person"):
        desk.release(release=bo.KeyedRelease("survey"), row_id="person")
    assert desk.statuses() == []


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("hook", ["on_batch", "on_released", "progress", "before_commit"])
def test_r22_no_call_of_the_caller_takes_a_charge_back_by_saying_that_the_input_is_bad(
    desk: Desk, row_order: str, hook: str
) -> None:
    """The averaging attack from Python: look at the rows that wait, by the list of open files, and fail."""

    def looked(*_: object) -> None:
        raise bo.DataError("bad input, says the attacker")

    with pytest.raises(bo.DataError):
        desk.release(row_order=row_order, **{hook: looked})
    assert (desk.spent(), desk.statuses(), desk.files()) == (2.0, ["reserved"], set())
    assert desk.said == [f"{KEPT} (epsilon 2 a record to 'survey', its release 1)"]


def in_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bo.Ledger, "confirm", fail)
    bo.randomize(desk.table, ALLOCATION, charge_to=desk.payer)


def shown_to_the_caller(desk: Desk, _: pytest.MonkeyPatch) -> None:
    desk.release(before_commit=fail)


def keyed(desk: Desk, _: pytest.MonkeyPatch) -> None:
    desk.release(release=bo.KeyedRelease("survey"), on_released=fail)


def without_words(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budget_opt.api.charging.new_name", lambda: "0" * 32)
    monkeypatch.setattr(entropy.os, "urandom", fail)
    desk.release()


def by_hand(desk: Desk, _: pytest.MonkeyPatch) -> None:
    desk.payer.reserve(ALLOCATION, "survey, release 1")
    fail()


@pytest.mark.parametrize("path", [in_memory, shown_to_the_caller, keyed, without_words, by_hand])
def test_r22_what_was_drawn_is_given_back_to_nobody(
    desk: Desk, path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The averaging attack through the ledger itself: read the rows, fail, and void the release."""
    with pytest.raises(bo.BudgetOptError):
        path(desk, monkeypatch)
    (made,) = desk.ledger.releases("survey")
    with pytest.raises(bo.InputError, match="its words were drawn, so it stays spent"):
        bo.Ledger.open(desk.ledger.path).void(made.name)
    assert (desk.spent(), desk.statuses()) == (2.0, ["reserved"])


def test_r22_what_is_killed_while_it_is_drawn_can_be_given_back_by_nobody(desk: Desk) -> None:
    if (child := os.fork()) == 0:
        desk.release(before_commit=lambda: os.kill(os.getpid(), signal.SIGKILL))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    (made,) = desk.ledger.releases("survey")
    with pytest.raises(bo.InputError, match="its words were drawn"):
        desk.ledger.void(made.name)
    assert (desk.spent(), desk.statuses()) == (2.0, ["reserved"])


def test_a_repetition_is_given_back_by_the_event_that_records_it(desk: Desk) -> None:
    release = bo.KeyedRelease("survey")
    for _ in range(2):
        bo.randomize(desk.table, ALLOCATION, release=release, charge_to=desk.payer)
    kinds = [event["kind"] for _, event in desk.ledger.events()]
    assert kinds[2:] == ["reserve", "data", "begun", "confirm", "reserve", "begun", "repeat"]
    assert (desk.spent(), desk.statuses()) == (2.0, ["confirmed", "void"])


def test_r22_a_cell_that_is_changed_after_the_first_reading_keeps_the_charge(desk: Desk) -> None:
    changed = desk.table.assign(a=7)
    with pytest.raises(bo.DataError):
        desk.release(before_words=lambda: desk.write(changed) and None)
    assert (desk.spent(), desk.statuses(), desk.files()) == (2.0, ["reserved"], set())
    assert desk.said[0].startswith(KEPT)


def test_r7_a_random_source_that_fails_keeps_its_charge(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy.os, "urandom", lambda count: b"")
    name = "0" * 32
    monkeypatch.setattr("budget_opt.api.charging.new_name", lambda: name)
    with pytest.raises(bo.RandomSourceError):
        desk.release()
    assert (desk.spent(), desk.statuses(), desk.files()) == (2.0, ["reserved"], set())
    assert desk.said == ["note: the charge stays (epsilon 2 a record to 'survey', its release 1)"]
    monkeypatch.setattr("budget_opt.api.charging.new_name", lambda: "1" * 32)
    with pytest.raises(bo.RandomSourceError):
        bo.randomize(desk.table, ALLOCATION, charge_to=desk.payer)
    assert desk.spent() == 4.0
    assert desk.said[1:] == [f"{KEPT} (epsilon 2 a record to 'survey', its release 2)"]


@pytest.mark.parametrize("hook", ["progress", "before_commit"])
def test_what_stops_a_release_after_its_first_report_keeps_its_charge(desk: Desk, hook: str) -> None:
    with pytest.raises(bo.InputError, match="it fails"):
        desk.release(**{hook: fail})
    assert (desk.spent(), desk.files()) == (2.0, set())
    assert desk.said[0].startswith(KEPT)


def test_what_stops_a_release_before_its_first_report_is_charged_nothing(desk: Desk) -> None:
    with pytest.raises(bo.InputError, match="it fails"):
        desk.release(before_words=fail)
    (desk.folder / "r.csv").write_text("")
    with pytest.raises(bo.InputError, match="exists already"):
        desk.release()
    assert (desk.spent(), desk.statuses(), len(desk.said)) == (0.0, ["void"], 1)
    assert desk.said[0].startswith(BACK)


def test_a_failed_verification_keeps_its_charge(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def convicted(*_: object) -> None:
        raise bo.VerificationError("a check fails")

    monkeypatch.setattr(ReleaseJudge, "report", convicted)
    place = Place(desk.folder / "public" / "r.csv", desk.folder / "inside")
    with pytest.raises(bo.VerificationError):
        publish(desk.folder / "allocation.json", desk.folder / "data.csv", place, charge_to=desk.payer)
    assert (desk.spent(), desk.files()) == (2.0, set())


@pytest.mark.parametrize("call", ["reserve", "remember", "begin", "confirm"])
def test_r19_a_ledger_that_cannot_be_written_leaves_no_output(
    desk: Desk, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bo.Ledger, call, fail)
    with pytest.raises(bo.InputError, match="it fails"):
        desk.release()
    with pytest.raises(bo.InputError, match="it fails"):
        bo.randomize(desk.table, ALLOCATION, charge_to=desk.payer)
    assert desk.files() == set()
    assert desk.spent() == (4.0 if call == "confirm" else 0.0)


def test_a_charge_that_cannot_be_taken_back_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bo.Ledger, "void", fail)
    with pytest.raises(bo.InputError, match="it fails"):
        desk.release(before_words=fail)
    assert (desk.spent(), len(desk.said)) == (2.0, 1)
    assert desk.said[0].startswith(KEPT)


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
    monkeypatch.setattr("budget_opt.api.charging.new_name", lambda: "0" * 32)
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


def test_what_is_left_is_told_with_all_its_digits_and_never_rounded_up(desk: Desk) -> None:
    desk.ledger.change("survey", bo.Caps(total=5.999999997), "more")
    place = Place(desk.folder / "public" / "r.csv")
    made = publish(desk.folder / "allocation.json", desk.folder / "data.csv", place, charge_to=desk.payer)
    assert "what is left of the total for the next release: 3.999999997" in str(made)


def test_an_allocation_that_overspends_is_charged_by_no_hand(desk: Desk) -> None:
    """By its composition it would cost 0.001; what it spends is 2."""
    desk.ledger.change("survey", bo.Caps(total=4.0, delta=1e-3), "delta")
    document = ALLOCATION.to_dict()
    document["total_epsilon"], document["total_delta"] = 0.001, 1e-6
    document["privacy"]["composition"] = "convolution"
    path = desk.folder / "edited.json"
    path.write_text(json.dumps(document))
    try:
        edited = bo.Allocation.read(path)
    except bo.BudgetOptError:
        edited = dataclasses.replace(ALLOCATION, total_epsilon=0.001, total_delta=1e-6)
    with pytest.raises(bo.VerificationError):
        desk.payer.reserve(edited, "x")
    with pytest.raises(bo.VerificationError):
        record_release(desk.ledger, "survey", path, "was made elsewhere")
    assert desk.statuses() == []


@pytest.mark.parametrize("name", ["pilot-mine", "making-0", "piloted-9-0-x"])
def test_names_that_say_who_paid_for_a_making_are_nobody_elses(desk: Desk, name: str) -> None:
    for call in (
        lambda: desk.payer.reserve(ALLOCATION, name),
        lambda: desk.payer.confirm(ALLOCATION, name, desk.folder / "data.csv"),
    ):
        with pytest.raises(bo.InputError, match="the ledger's own"):
            call()
    assert desk.statuses() == []


def test_r35_the_ledger_holds_no_value_and_no_count_of_the_originals(desk: Desk) -> None:
    bo.randomize(desk.table.assign(person="CANARY", wave="CANARY"), ALLOCATION, charge_to=desk.payer)
    (text,) = desk.ledger.fingerprints()["survey"]
    found = Fingerprint.from_text(text)
    assert (found.rows, len(found.columns)) == (ROWS, 2)
    assert all(0 <= mark < 256 for mark in found.columns)
    assert set(found.records + found.runs) <= set("0123")
    stored = b"".join(path.read_bytes() for path in desk.folder.glob("ledger.db*"))
    assert b"CANARY" not in stored


def test_a_batch_randomizer_is_charged_by_hand(desk: Desk) -> None:
    """The lines of the docstring of `budget_opt.engines`; one machine repeats that release for nothing."""
    batch = pa.RecordBatch.from_pandas(desk.table, preserve_index=False)
    release = bo.KeyedRelease("survey")
    for _retry in range(2):
        assert desk.payer.reserve(ALLOCATION, "survey, release 1") == 1
    randomizer = bo.BatchRandomizer(batch.schema, ALLOCATION, release, row_id="person")
    released = pa.table(randomizer(batch))
    for table in (
        released,
        desk.write(released.to_pandas(), "r.csv"),
        desk.write(released.to_pandas(), "r.parquet"),
    ):
        assert desk.payer.confirm(ALLOCATION, "survey, release 1", table) == 1
    assert (desk.spent(), desk.statuses()) == (2.0, ["confirmed"])
    desk.release("s.csv", release=release, row_id="person", row_order="public")
    assert desk.spent() == 2.0
