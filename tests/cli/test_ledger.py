"""The command ledger: begin one, register, look, change, check, and record what it does not know."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.tables.state_directory import STATE_DIR
from tests.ledger.charges import charge, spend


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main(["ledger", *arguments])


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())


def allocation(path: Path, epsilon: float) -> bo.Allocation:
    problem = bo.Problem(
        attributes=[bo.Attribute("smoker", categories=2), bo.Attribute("income", categories=5)],
        moments=[bo.CrossMoment("smoker", "income")],
        total_epsilon=epsilon,
    )
    found = bo.uniform(problem)
    found.write(path)
    return found


def test_a_ledger_is_begun_in_the_state_directory_once(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("init") == 0
    assert f"begun: {place}/state/ledger.db" in capsys.readouterr().out
    assert run("init") == 2
    assert "would forget what was spent" in said(capsys)
    assert run("show") == 0
    assert "no data set yet; next: budget-opt ledger add NAME --total E" in capsys.readouterr().out


def test_without_a_ledger_every_command_says_how_to_begin_one(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["show"], ["check"], ["add", "d", "--total", "1"], ["accept", "--why", "x"]):
        assert run(*arguments) == 2
        assert "Begin one with: budget-opt ledger init" in said(capsys)


def test_all_caps_can_be_typed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("init", "l.db")
    capsys.readouterr()
    options = ["--attribute", "income=1.5", "--attribute", "a=b=2", "--group", "health=smoker, income:1.75"]
    options += ["--max-rows", "2", "--waves", "3", "--delta", "1e-6", "--ledger", "l.db", "--json"]
    assert run("add", "health survey", "--total", "3", *options) == 0
    assert printed(capsys)["datasets"][0]["caps"] == {
        "total": 3.0,
        "attributes": {"income": 1.5, "a=b": 2.0},
        "groups": {"health": {"attributes": ["smoker", "income"], "epsilon": 1.75}},
        "delta": 1e-6,
        "max_rows": 2,
        "waves": 3,
    }
    assert bo.Ledger.open("l.db").caps("health survey").total == 3.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--total", "0"], "--total: is 0.0, must be above 0"),
        (["--total", "nan"], "--total: is nan"),
        (["--total", "1", "--attribute", "income"], "must be like income=2"),
        (["--total", "1", "--attribute", "income=x"], "'x' is not a number of nats"),
        (["--total", "1", "--attribute", "a=1", "--attribute", "a=2"], "--attribute a: is given twice"),
        (["--total", "1", "--group", "h=a,b"], 'must be like "health=smoker,drinks:1.5"'),
        (["--total", "1", "--group", "a,b:2"], "must be like"),
        (["--total", "1", "--group", "h=a,,b:2"], "groups"),
        (["--total", "1", "--max-rows", "0"], "--max-rows: is 0"),
        (["--total", "1", "--waves", "0"], "--waves: is 0"),
        (["--total", "1", "--delta", "2"], "--delta: is 2.0"),
        ([], "Missing option '--total'"),
    ],
)
def test_what_cannot_be_read_is_refused_by_the_option(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    run("init")
    assert run("add", "d", *options) == 2
    assert message in said(capsys)


def test_a_second_name_for_a_data_set_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", "health survey", "--total", "3")
    for twin in ("Health Survey", "health_survey", "health survey"):
        assert run("add", twin, "--total", "3") == 2
        assert "health survey" in said(capsys)
    assert run("add", "health survey ", "--total", "3") == 2
    assert "without blanks at its ends" in said(capsys)


def test_show_says_caps_spent_left_and_every_release(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", "d", "--total", "1", "--attribute", "a=0.5", "--max-rows", "2")
    ledger, asked = bo.Ledger.open(bo.Ledger.default_path()), charge(("a", "0.1"), ("b", "0.05"))
    spend(ledger, "d", asked, "r1")
    ledger.reserve("d", asked, "r2")
    ledger.void("r2", "the table had other columns")
    ledger.reserve("d", asked, "r3")
    ledger.repeat("d", cells="c" * 64, rows=3)
    capsys.readouterr()
    assert run("show", "--dataset", "d") == 0
    text = capsys.readouterr().out
    for words in (
        "each person has at most 2 rows (not checked by the ledger), and each of them costs",
        "total 1 0.6 0.4",
        "attribute a 0.5 0.4 0.1",
        "confirmed 0.15 3 000000000000",
        "void 0.15",
        "reserved 0.15",
        "reserved: started, and never finished or not yet; it counts as spent",
        "release 2, void: the table had other columns",
        "free repetitions of release 1",
    ):
        assert words in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    assert run("show", "--json") == 0
    (found,) = printed(capsys)["datasets"]
    assert [(one["number"], one["status"], one["rows"]) for one in found["releases"]] == [
        (1, "confirmed", 3),
        (2, "void", None),
        (3, "reserved", None),
    ]
    assert (found["spent"]["total"], found["left"]["total"]) == (0.6, 0.4)
    assert [one["release"] for one in found["repeats"]] == [1]
    assert run("show", "--dataset", "e") == 2


def test_what_is_not_given_stays_and_a_cap_that_is_raised_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", "d", "--total", "1", "--attribute", "a=0.5", "--attribute", "b=0.5", "--group", "g=a:0.5")
    capsys.readouterr()
    changes = ["--attribute", "a=none", "--attribute", "b=0.25", "--group", "g=none", "--total", "2"]
    assert run("change", "d", "--why", "board decision 12", *changes) == 0
    captured = capsys.readouterr()
    assert "allows more to be spent on the same people: total 1 -> 2 (raised)" in captured.err
    assert "attribute a 0.5 -> no cap" in captured.err
    assert "board decision 12" in captured.out
    caps = bo.Ledger.open(bo.Ledger.default_path()).caps("d")
    assert caps == bo.Caps(total=2.0, attributes={"b": 0.25})
    assert run("change", "d", "--why", "tidy", "--total", "1.5") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "caps changed: total 2 -> 1.5 (lowered) (tidy)" in captured.out
    assert run("change", "d", "--total", "3") == 2  # without a reason
    assert run("change", "d", "--why", "x") == 2
    assert "has these caps already" in said(capsys)


def test_check_ends_with_1_where_a_release_is_not_known(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("init")
    run("add", "d", "--total", "1")
    assert run("check") == 0
    assert "whole, 2 events" in capsys.readouterr().out
    found = allocation(place / "a.json", 0.5)
    digest = bo.Charge.of(found).allocation_sha256
    manifest = place / "manifest.json"
    manifest.write_text(
        json.dumps({"format": "budget-opt/manifest", "version": 1, "release": 1, "allocation_sha256": digest})
    )
    assert run("check", "manifest.json") == 1
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "NOT KNOWN manifest.json: it is release 1 of a data set, and this ledger has at most 0 of one" in text
    )
    assert run("record", "d", "a.json", "--why", "made before there was a ledger") == 0
    captured = capsys.readouterr()
    assert "counted as release 1 of d" in captured.err
    assert "release 1, outside: made before there was a ledger" in captured.out
    assert run("check", "manifest.json", "--json") == 0
    assert printed(capsys)["manifests"][0]["dataset"] == "d"


def test_r25_a_restored_ledger_is_refused_and_accepted_with_a_reason(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("init")
    run("add", "d", "--total", "1")
    allocation(place / "a.json", 0.5)
    shutil.copy2("state/ledger.db", "backup.db")
    for _ in range(2):
        run("record", "d", "a.json", "--why", "made by hand")
    shutil.copy2("backup.db", "state/ledger.db")
    capsys.readouterr()
    assert run("show") == 2
    assert "budget-opt ledger accept" in said(capsys)
    assert run("accept", "--why", "the disk broke") == 0
    assert (
        "next: budget-opt ledger check with all your manifests, then budget-opt ledger record"
        in capsys.readouterr().out
    )
    assert run("show") == 0
    capsys.readouterr()
    assert run("accept", "--why", "once more") == 0
    assert "nothing to accept" in capsys.readouterr().out


def test_a_damaged_ledger_ends_with_2_and_names_the_event(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.ledger.charges import edit

    run("init")
    run("add", "d", "--total", "1")
    edit(
        place / "state" / "ledger.db",
        "UPDATE events SET event = replace(event, '1.0', '9.0') WHERE number = 2",
    )
    assert run("show") == 2
    text = said(capsys)
    assert text.startswith("LedgerError: ")
    assert "event 2: " in text
    assert "Restore it from a backup" in text


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    text = capsys.readouterr().out
    for name in ("init", "add", "change", "show", "check", "record", "accept"):
        assert f"  {name} " in text
    assert "..." not in text.partition("Commands:")[2]


def test_nobody_else_can_read_what_was_begun(place: Path) -> None:
    if os.name != "posix":
        pytest.skip("rights of POSIX systems")
    run("init", "mine.db")
    assert (place / "mine.db").stat().st_mode & 0o777 == 0o600


def test_a_cap_that_is_overspent_has_nothing_left(capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", "d", "--total", "30")
    spend(bo.Ledger.open(bo.Ledger.default_path()), "d", charge(("a", "30")), "r1")
    run("change", "d", "--total", "3", "--why", "less")
    assert "total 3 30 0, overspent by 27" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(bo.BudgetExceededError, match=r"0 of 3 is left, overspent by 27"):
        bo.Ledger.open(bo.Ledger.default_path()).reserve("d", charge(("a", "1")), "r2")


def test_show_says_what_everything_means(capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", ":smile: x", "--total", "9", "--attribute", "a=10")
    captured = capsys.readouterr()
    assert ":smile: x" in captured.out
    assert "each person has at most 1 row (not checked by the ledger)" in captured.out
    assert "note: the cap on attribute a, 10, is above that on the total, 9" in captured.err
    ledger = bo.Ledger.open(bo.Ledger.default_path())
    spend(ledger, ":smile: x", charge(("a", "1")), "pilot-7")
    ledger.add_release(":smile: x", charge(("a", "1")), "made by hand [bold]")
    assert run("show") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "confirmed 1 3 pilot" in text
    assert "outside: made without this ledger and counted by hand" in text
    assert "release 2, outside: made by hand [bold]" in text


def test_a_missing_reason_leads_to_the_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", "d", "--total", "9")
    assert run("change", "d", "--total", "3") == 2
    assert "See: budget-opt ledger change --help" in said(capsys)


def test_an_accepted_copy_stays_in_sight(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("init")
    run("add", "d", "--total", "9")
    shutil.copy2("state/ledger.db", "backup.db")
    run("change", "d", "--total", "3", "--why", "less")
    shutil.copy2("backup.db", "state/ledger.db")
    assert run("accept", "--why", "the disk broke") == 0
    assert "changes of caps and new data sets since then are lost" in capsys.readouterr().out
    assert run("show") == 0
    assert "an older copy of this ledger was accepted" in capsys.readouterr().out


def test_a_new_ledger_in_the_place_of_one_says_so(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("init", "l.db")
    run("add", "d", "--total", "9", "--ledger", "l.db")
    (place / "l.db").unlink()
    capsys.readouterr()
    assert run("init", "l.db") == 0
    assert "a ledger with 2 events was at this place before" in said(capsys)
    assert run("init", "other.db") == 0
    assert said(capsys) == ""


def test_a_ledger_is_not_begun_in_the_folder_of_a_release(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "manifest.json").write_text("{}")
    assert run("init", "l.db") == 2
    assert "lies in the folder of a release" in said(capsys)


def test_no_help_cites_what_its_readers_do_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    import re

    texts = [bo.Ledger.__doc__, bo.Caps.__doc__, bo.Charge.__doc__, bo.Payer.__doc__]
    texts += [member.__doc__ for name, member in vars(bo.Ledger).items() if not name.startswith("_")]
    for command in ("init", "add", "change", "show", "check", "record", "accept"):
        assert run(command, "--help") == 0
        texts.append(capsys.readouterr().out)
    for text in texts:
        assert not re.search(r"\bR[0-9]+\b|DESIGN", text or "")
