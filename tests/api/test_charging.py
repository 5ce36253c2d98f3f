"""What a release is charged, when the charge stays, and what is free: R7, R10, R19, R22 (`api.charging`)."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.api.charging.recording import record_release
from budget_opt.api.releasing.publishing import Place, publish
from budget_opt.randomizer import entropy
from budget_opt.tables.fingerprints import Fingerprint
from budget_opt.verifier.release import ReleaseJudge
from tests.api.charging_desk import ALLOCATION, BACK, KEPT, ROWS, Desk


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
    monkeypatch.setattr("budget_opt.api.charging.charging.new_name", lambda: "0" * 32)
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
    monkeypatch.setattr("budget_opt.api.charging.charging.new_name", lambda: "0" * 32)
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
    monkeypatch.setattr("budget_opt.api.charging.charging.new_name", lambda: name)
    with pytest.raises(bo.RandomSourceError):
        desk.release()
    assert (desk.spent(), desk.statuses(), desk.files()) == (2.0, ["reserved"], set())
    assert desk.said == ["note: the charge stays (epsilon 2 a record to 'survey', its release 1)"]
    monkeypatch.setattr("budget_opt.api.charging.charging.new_name", lambda: "1" * 32)
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
