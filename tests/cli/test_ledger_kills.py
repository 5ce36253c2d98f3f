"""Releases that a ledger pays for, killed at every step: R17, R23. Spent is never below released.

An unfinished release (`--resume`) is charged once, in however many runs, and ends with the same bytes.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import time
from pathlib import Path

import pytest

import budget_opt as bo
from tests.cli.desk import Desk
from tests.cli.killable import Killable

PAYS = ("--ledger", "ledger.db", "--dataset", "links")
PLAIN = ("--json",)
COST = 4.0


class PaidDesk(Desk):
    """A desk with a ledger that allows many releases."""

    def __init__(self, killable: Killable, folder: Path, inputs: Path, *options: str) -> None:
        super().__init__(killable, folder, inputs, "csv", *PAYS, *options)
        self.ledger = bo.Ledger.create(folder / "ledger.db")
        self.ledger.register("links", bo.Caps(total=1000.0))

    def spent(self) -> float:
        """What the ledger says, read anew; it opens, so it is whole."""
        return bo.Ledger.open(self.folder / "ledger.db").spent("links").total

    def statuses(self) -> list[str]:
        return [release.status for release in self.ledger.releases("links")]


@pytest.fixture
def paid(killable: Killable, tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> PaidDesk:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    return PaidDesk(killable, tmp_path, inputs)


def desk_in(
    folder: Path, killable: Killable, inputs: Path, monkeypatch: pytest.MonkeyPatch, *options: str
) -> PaidDesk:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(folder / "state"))
    return PaidDesk(killable, folder, inputs, *options)


def kinds_of(steps: list[str]) -> list[int]:
    """The number of the first step of each kind."""
    return [i + 1 for i, step in enumerate(steps) if step not in steps[:i]]


HIDDEN = re.compile(r"\.([a-z]+\.json\.)?\w+\.part")
"""What a kill may leave of a file in the making: "hidden" to people and to whatever lists a folder."""


def require_only_what_is_documented(desk: PaidDesk) -> None:
    """Beside the outputs, in the order in which they get their places, hidden names and nothing else."""
    public, inside = (sorted((desk.folder / name).rglob("*")) for name in ("public", "inside"))
    order = ("r.csv", "allocation.json", "manifest.json")
    visible = {path.name for path in public if not HIDDEN.fullmatch(path.name)}
    assert visible == set(order[: len(visible)])
    assert {path.name for path in inside if not HIDDEN.fullmatch(path.name)} <= {"verification.json"}
    if desk.statuses() != ["confirmed"]:
        assert all(path.stat().st_size == 0 for path in public)


@pytest.mark.parametrize("every", [15, pytest.param(1, marks=pytest.mark.slow)])
def test_r23_a_release_that_is_killed_at_any_step_is_spent_before_anything_of_it_is_there(
    killable: Killable, tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Without --resume. A table is there only as a whole, and only when it is confirmed."""
    whole = desk_in(tmp_path / "whole", killable, inputs, monkeypatch, "--internal", "inside")
    steps = whole.run(*PLAIN).steps
    assert whole.statuses() == ["confirmed"]
    seen = set()
    last = steps.index("os.link r.csv") + 2  # the table is there, the allocation is not
    for step in {*kinds_of(steps)[::every], last}:
        desk = desk_in(tmp_path / str(step), killable, inputs, monkeypatch, "--internal", "inside")
        assert desk.run(*PLAIN, kill_at=step).code is None
        spent, there = desk.spent(), desk.target.exists()
        assert spent == (COST if desk.statuses() else 0.0)
        assert desk.statuses() == ["confirmed"] or not there
        require_only_what_is_documented(desk)
        seen.add((*desk.statuses(), there))
        for folder in ("public", "inside"):
            shutil.rmtree(desk.folder / folder, ignore_errors=True)
        assert desk.run(*PLAIN).code == 0
        assert desk.spent() == spent + COST
        manifest = json.loads((desk.target.parent / "manifest.json").read_text())
        assert manifest["release"] == len(desk.statuses())
        shutil.rmtree(desk.folder)
    # which of the others a few steps meet depends on how many there are
    assert seen >= (
        {(False,), ("reserved", False), ("confirmed", True)} if every == 1 else {("confirmed", True)}
    )


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_r17_killed_at_random_moments_the_ledger_opens_and_spent_covers_what_was_released(
    paid: PaidDesk, kills: int
) -> None:
    began = time.monotonic()
    assert paid.run(*PLAIN).code == 0
    whole = time.monotonic() - began
    shutil.rmtree(paid.target.parent)
    moments, killed, released, runs = random.Random(kills), 0, 1, 1
    while killed < kills:
        runs += 1
        ended = paid.run(*PLAIN, kill_after=moments.uniform(0.0, 1.1) * whole)
        killed += ended.code is None
        released += paid.target.exists()
        shutil.rmtree(paid.target.parent, ignore_errors=True)
        assert runs * COST >= paid.spent() >= released * COST
    assert paid.statuses().count("confirmed") >= released


@pytest.mark.parametrize("every", [24, pytest.param(1, marks=pytest.mark.slow)])
def test_r23_an_unfinished_release_is_charged_once_however_often_it_is_killed(
    killable: Killable, tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    steps = desk_in(tmp_path / "whole", killable, inputs, monkeypatch).run().steps
    for step in kinds_of(steps)[::every]:
        desk = desk_in(tmp_path / str(step), killable, inputs, monkeypatch)
        desk.run(kill_at=step)
        assert desk.spent() == (COST if desk.statuses() else 0.0)
        assert desk.statuses() or not desk.workplace.exists() or not (desk.workplace / "rows.spool").exists()
        desk.require_nothing_half()
        ended = desk.run()
        assert ended.code == 0, (steps[step - 1], ended.said)
        assert (desk.spent(), desk.statuses()) == (COST, ["confirmed"])
        desk.require_whole()
        assert json.loads((desk.target.parent / "manifest.json").read_text())["release"] == 1
        shutil.rmtree(desk.folder)


def test_r23_what_is_abandoned_stays_spent_and_it_is_said(paid: PaidDesk) -> None:
    paid.run(kill_before="os.link r.csv")
    abandoned = paid.run("--abandon")
    assert "What 'links' paid for it in its ledger stays spent." in abandoned.said
    assert (paid.spent(), paid.target.exists()) == (COST, False)
    assert paid.run().code == 0
    assert paid.spent() == 2 * COST
    assert json.loads((paid.target.parent / "manifest.json").read_text())["release"] == 2


@pytest.mark.parametrize("change", ["none", "data set", "ledger"])
def test_a_release_goes_on_only_if_the_same_data_set_pays(
    killable: Killable, tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    desk = desk_in(tmp_path, killable, inputs, monkeypatch)
    desk.run(kill_before="os.link r.csv")
    command, before = desk.command, desk.state()
    desk.ledger.register("other", bo.Caps(total=10.0))
    other = bo.Ledger.create(tmp_path / "other.db")
    other.register("links", bo.Caps(total=10.0))
    swapped = {"none": (), "data set": (*PAYS[:3], "other"), "ledger": ("--ledger", "other.db", *PAYS[2:])}
    desk.command = (*command[: command.index("--ledger")], *swapped[change])
    refused = desk.run()
    assert refused.code == 2
    assert f"it was charged to 'links' in the ledger {desk.ledger.id}, and would be to" in refused.said
    assert (desk.state(), desk.spent(), other.spent("links").total) == (before, COST, 0.0)
    desk.command = command
    assert desk.run().code == 0
    desk.require_whole()


def test_a_release_that_was_begun_without_a_ledger_does_not_go_on_with_one(
    killable: Killable, tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_in(tmp_path, killable, inputs, monkeypatch)
    command, at = desk.command, desk.command.index("--ledger")
    desk.command = command[:at]
    desk.run(kill_before="os.link r.csv")
    desk.command = command
    assert "it was charged to no ledger, and would be to 'links'" in desk.run().said
    assert desk.spent() == 0.0


def test_r10_faults_that_are_found_by_a_later_run_keep_the_charge(paid: PaidDesk) -> None:
    """The cells are changed after the first reading, and rows waited on the disk: a backup may have them."""
    data = paid.folder / "data.csv"
    text, changed = data.read_text(), data.stat()
    paid.run(kill_before="fsync rows.spool")
    data.write_text(text.replace("CANARY-499,1", "CANARY-499,7"))
    os.utime(data, ns=(changed.st_mtime_ns, changed.st_mtime_ns))
    refused = paid.run()
    assert refused.code == 2
    assert "note: the charge stays" in refused.said
    assert (paid.spent(), paid.state()) == (COST, [])


def test_r22_the_rows_of_a_killed_run_are_not_given_back_though_its_spool_is_taken_away(
    paid: PaidDesk,
) -> None:
    """Whoever took them with them would have a report of every row for nothing."""
    data = paid.folder / "data.csv"
    text, changed = data.read_text(), data.stat()
    paid.run(kill_before="half a write rows.spool")
    (paid.workplace / "rows.spool").unlink()
    data.write_text(text.replace("CANARY-499,1", "CANARY-499,7"))
    os.utime(data, ns=(changed.st_mtime_ns, changed.st_mtime_ns))
    assert "note: the charge stays" in paid.run().said
    assert (paid.spent(), paid.statuses()) == (COST, ["reserved"])


@pytest.mark.parametrize("spool_taken", [False, True])
def test_r22_rows_that_changed_places_get_no_second_report_from_a_release_that_was_killed(
    paid: PaidDesk, spool_taken: bool
) -> None:
    """Words are known by position: the same people at other places would be a second noisy copy."""
    data = paid.folder / "data.csv"
    (header, *rows), changed = data.read_text().splitlines(keepends=True), data.stat()
    paid.run(kill_before="os.link r.csv")
    if spool_taken:
        (paid.workplace / "rows.spool").unlink()
    data.write_text("".join([header, *reversed(rows)]))
    os.utime(data, ns=(changed.st_mtime_ns, changed.st_mtime_ns))
    refused = paid.run()
    assert refused.code == 2
    assert "holds other cells, or in another order" in refused.said
    assert not paid.target.exists()
    assert (paid.spent(), paid.statuses()) == (COST, ["confirmed"])  # which it is before it gets its place


def test_the_marks_of_an_original_are_made_once_however_often_a_release_is_killed(paid: PaidDesk) -> None:
    """A later run reads the same data: they are known by their marks already."""
    paid.run(kill_before="os.link r.csv")
    marks = paid.ledger.fingerprints()["links"]
    assert len(marks) == 1
    journal = next((paid.folder / "state").rglob("journal.json"))
    assert json.loads(journal.read_text())["drawing"] is True
    assert paid.run().code == 0
    assert paid.ledger.fingerprints()["links"] == marks


def test_a_complete_release_that_nobody_paid_for_is_not_taken_for_one_that_is_paid(
    killable: Killable, tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_in(tmp_path, killable, inputs, monkeypatch)
    command, at = desk.command, desk.command.index("--ledger")
    desk.command = command[:at]
    assert desk.run().code == 0
    desk.command = command
    refused = desk.run()
    assert refused.code == 2
    assert "is complete already, and 'links' has not paid for it in this ledger" in refused.said
    assert (desk.spent(), desk.statuses()) == (0.0, [])


def test_a_complete_release_that_was_paid_for_is_told_of_without_its_data_set_too(paid: PaidDesk) -> None:
    assert paid.run().code == 0
    paid.command = paid.command[: paid.command.index("--ledger")]
    told = paid.run()
    assert told.code == 0
    assert "complete already" in told.said
    assert "ledger was charged" not in told.said


def test_r19_no_room_in_the_ledger_leaves_no_unfinished_release(paid: PaidDesk) -> None:
    paid.ledger.change("links", bo.Caps(total=3.0), "less")
    refused = paid.run()
    assert refused.code == 2
    assert "BudgetExceededError" in refused.said
    assert (paid.state(), paid.target.parent.exists(), paid.spent()) == ([], False, 0.0)


def test_ctrl_c_keeps_the_charge_and_the_release_goes_on(paid: PaidDesk) -> None:
    assert paid.run(interrupt_after="fsync rows.spool").code == 130
    assert paid.statuses() == ["reserved"]
    assert paid.run().code == 0
    assert (paid.spent(), paid.statuses()) == (COST, ["confirmed"])
    paid.require_whole()
    told = paid.run()
    assert "complete already" in told.said
    assert paid.spent() == COST


def test_the_judge_and_the_marks_see_all_rows_though_most_were_done_before(paid: PaidDesk) -> None:
    paid.run(kill_before="os.link r.csv")
    assert paid.run("--resume", "--internal", "inside").code == 0
    report = json.loads((paid.folder / "inside" / "verification.json").read_text())
    assert report.items() >= paid.undisturbed()[1].items()
    paid.ledger.register("others", bo.Caps(total=10.0))
    again = paid.run("-o", "second/r.csv", "--dataset", "others", *PLAIN)
    assert "its data are the same table as data that 'links' paid for" in again.said
