"""What `randomize --resume` finds of an unfinished release, and what `--abandon` leaves of it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.randomizer.resuming.lock import locked
from tests.cli.desk import PROBLEM, Desk
from tests.cli.killable import Killable


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("content", "has "),
        ("time", "another time of change"),
        ("source", "data.parquet"),
        ("allocation", "the allocation is another one"),
        ("order", "the order of rows was shuffle, is public"),
    ],
)
def test_a_release_that_was_begun_with_something_else_is_refused_until_that_is_restored(
    desk: Desk, change: str, said: str
) -> None:
    desk.run(kill_before="fsync rows.spool")
    before, data = desk.state(), desk.folder / "data.csv"
    shutil.copytree(desk.folder, desk.folder / "copy")  # with the times of change
    command, more = desk.command, ("--resume",)
    if change == "content":
        data.write_text(data.read_text() + "CANARY,1,1,north,w1\n")
    elif change == "time":
        os.utime(data, ns=(0, data.stat().st_mtime_ns + 1))
    elif change == "source":
        desk.command = (*command[:2], "data.parquet", *command[3:])
    elif change == "allocation":
        bo.uniform(PROBLEM.with_total(5.0)).write(desk.folder / "allocation.json")
    else:
        more = ("--resume", "--row-order", "public")
    refused = desk.run(*more)
    assert refused.code == 2
    assert said in refused.said
    assert "--abandon" in refused.said
    assert "Restore" in refused.said
    assert "CANARY" not in refused.said
    assert desk.state() == before
    assert not desk.target.exists()

    desk.command = command
    for name in ("data.csv", "allocation.json"):
        shutil.copy2(desk.folder / "copy" / name, desk.folder / name)
    assert desk.run().code == 0
    desk.require_whole()


@pytest.mark.slow
def test_a_journal_that_is_truncated_or_edited_is_refused_and_never_begun_anew(desk: Desk) -> None:
    desk.run(kill_before="os.link r.csv")
    journal = next((desk.folder / "state").glob("*/journal.json"))
    content, key = journal.read_bytes(), desk.key.read_bytes()
    edited = content.replace(b'"placing"', b'"randomizing"')
    assert edited != content
    for damaged in (b"", content[:-1], content[: len(content) // 2], edited, b"[]", b"{}", b"\xff"):
        journal.write_bytes(damaged)
        refused = desk.run()
        assert refused.code == 2
        assert "journal" in refused.said
        assert "--abandon" in refused.said
        assert journal.read_bytes() == damaged
        assert journal.with_name("key.json").read_bytes() == key
    journal.write_bytes(content)
    assert desk.run().code == 0
    desk.require_whole()


@pytest.mark.parametrize("damage", ["nothing", "journal", "key", "state folder", "rows", "source"])
def test_abandon_deletes_key_journal_and_rows_whatever_became_of_the_rest(desk: Desk, damage: str) -> None:
    desk.run(kill_before="os.link r.csv")
    state = next((desk.folder / "state").glob("*/key.json")).parent
    if damage == "journal":
        (state / "journal.json").write_text("{")
    elif damage == "key":
        (state / "key.json").unlink()
    elif damage == "state folder":
        shutil.rmtree(state)
    elif damage == "rows":
        shutil.rmtree(desk.workplace)
    elif damage == "source":
        (desk.folder / "data.csv").unlink()
        (desk.folder / "allocation.json").unlink()
    ended = desk.run("--abandon")
    assert ended.code == 0
    assert "deleted: the key" in ended.said
    assert "solid-state" in ended.said
    assert desk.state() == []
    assert not desk.workplace.exists()
    assert desk.target.parent.exists() == (
        damage in ("journal", "state folder")
    )  # only a journal says who made it
    again = desk.run("--abandon")
    assert again.code == 0
    assert "nothing to abandon" in again.said


def test_abandon_takes_away_what_a_release_that_is_not_whole_has_put_at_its_place(desk: Desk) -> None:
    desk.run(kill_before="os.link manifest.json")
    assert desk.target.exists()
    assert desk.run("--abandon").code == 0
    assert not desk.target.parent.exists()
    assert desk.state() == []


@pytest.mark.parametrize("step", ["fsync public", "os.remove key.json"])
def test_abandon_leaves_a_release_that_is_whole(desk: Desk, step: str) -> None:
    desk.run(kill_before=step)
    ended = desk.run("--abandon")
    assert ended.code == 0
    assert "counts as released" in ended.said
    desk.require_whole()


def test_what_somebody_put_at_the_target_meanwhile_is_not_replaced(desk: Desk) -> None:
    desk.run(kill_before="os.link r.csv")
    desk.target.write_text("other\n")
    refused = desk.run()
    assert refused.code == 2
    assert "not of this release" in refused.said
    assert desk.target.read_text() == "other\n"
    assert not (desk.target.parent / "manifest.json").exists()
    desk.target.unlink()
    assert desk.run().code == 0
    desk.require_whole()


def test_rows_that_are_gone_are_drawn_again_under_the_same_key(desk: Desk) -> None:
    desk.run(kill_before="os.link r.csv")
    key = desk.key.read_bytes()
    shutil.rmtree(desk.workplace)
    assert desk.run().code == 0
    assert desk.key.read_bytes() == key
    desk.require_whole()


def test_rows_whose_key_is_in_another_state_directory_are_not_drawn_under_a_new_one(desk: Desk) -> None:
    desk.run(kill_before="os.link r.csv")
    (desk.folder / "state").rename(desk.folder / "elsewhere")
    refused = desk.run()
    assert refused.code == 2
    assert "BUDGET_OPT_STATE_DIR" in refused.said
    (desk.folder / "state").rmdir()
    (desk.folder / "elsewhere").rename(desk.folder / "state")
    assert desk.run().code == 0
    desk.require_whole()


def test_an_original_that_was_only_touched_goes_on_when_it_has_its_time_again_as_it_is_told(
    desk: Desk,
) -> None:
    data = desk.folder / "data.csv"
    os.utime(data, ns=(0, 1_700_000_000_123_456_789))
    desk.run(kill_at=31)
    data.touch()
    refused = desk.run()
    command = f"touch -d '2023-11-14T22:13:20.123456789Z' {data}"
    assert command in refused.said
    subprocess.run(shlex.split(command), check=True)
    assert desk.run().code == 0
    desk.require_whole()


def test_two_processes_do_not_work_on_one_release_and_a_dead_one_keeps_nobody_out(desk: Desk) -> None:
    desk.run(kill_before="fsync rows.spool")
    before, left_behind = desk.state(), next((desk.folder / "state").glob("*.lock"))
    with locked(left_behind, "the test"):
        for option in ("--resume", "--abandon"):
            refused = desk.run(option)
            assert refused.code == 2
            assert "another process" in refused.said
    assert desk.state() == before
    assert desk.run().code == 0
    assert list((desk.folder / "state").iterdir()) == []
    desk.require_whole()


def test_a_folder_of_files_that_has_its_place_already_stays_and_another_is_not_replaced(
    killable: Killable, tmp_path: Path, inputs: Path
) -> None:
    desk = Desk(killable, tmp_path, inputs, "folder")
    desk.run(kill_before="os.link manifest.json")
    assert desk.target.is_dir()
    (desk.target / "part-00001.parquet").write_text("other")
    refused = desk.run()
    assert refused.code == 2
    assert "not of this release" in refused.said
    assert (desk.target / "part-00001.parquet").read_text() == "other"
    (desk.target / "part-00001.parquet").unlink()
    assert desk.run().code == 0
    desk.require_whole()


def test_a_target_in_the_folder_of_the_original_leaves_nothing_unfinished(
    killable: Killable, tmp_path: Path, inputs: Path
) -> None:
    desk = Desk(killable, tmp_path, inputs, "parquet")
    original = desk.folder / "original"
    original.mkdir()
    (desk.folder / "data.parquet").rename(original / "data.parquet")
    desk.command = ("randomize", "allocation.json", "original", "-o", "original/r.parquet")
    refused = desk.run()
    assert refused.code == 2
    assert "folder of the original" in refused.said
    assert desk.state() == []
    assert [path.name for path in original.iterdir()] == ["data.parquet"]
