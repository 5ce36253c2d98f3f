"""`randomize --resume`: after a kill at any moment the same command ends with the same bytes: R28, R34.

The bytes are compared with those of a release under a copy of the same key that nothing disturbed and that
knows nothing of checkpoints.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from pathlib import Path

import pytest

from tests.cli.desk import KINDS, ROWS, Desk
from tests.cli.killable import Killable


def killed_at_every(steps: list[int], killable: Killable, inputs: Path, tmp_path: Path, kind: str) -> None:
    """Kill a release before each of these steps, and go on."""
    for step in steps:
        desk = Desk(killable, tmp_path / str(step), inputs, kind, "--internal", "inside")
        killed = desk.run(kill_at=step)
        assert killed.code is None
        desk.require_nothing_half()
        first = desk.key.read_bytes() if desk.key.exists() else None
        ended = desk.run()
        assert ended.code == 0, (killed.steps[-1], ended.said)
        assert first is None or desk.key.read_bytes() == first
        desk.require_whole()
        reported = json.loads((desk.folder / "inside" / "verification.json").read_text())
        assert reported.items() >= desk.undisturbed()[1].items()
        shutil.rmtree(desk.folder)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_r28_killed_before_every_kind_of_step_the_same_command_ends_with_the_same_bytes(
    killable: Killable, inputs: Path, tmp_path: Path, kind: str
) -> None:
    steps = Desk(killable, tmp_path / "whole", inputs, kind, "--internal", "inside").run().steps
    kinds = [i + 1 for i, step in enumerate(steps) if step not in steps[:i] and not step.startswith("open")]
    assert len(kinds) >= 25
    killed_at_every(kinds, killable, inputs, tmp_path, kind)


@pytest.mark.slow
def test_r28_killed_before_every_single_step_the_same_command_ends_with_the_same_bytes(
    killable: Killable, inputs: Path, tmp_path: Path
) -> None:
    """Of a folder of files; what repeats itself is the journal and the spool, which all kinds share."""
    steps = Desk(killable, tmp_path / "whole", inputs, "folder", "--internal", "inside").run().steps
    killed_at_every(list(range(1, len(steps) + 1)), killable, inputs, tmp_path, "folder")


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_r28_killed_at_random_moments_again_and_again_the_command_ends_with_the_same_bytes(
    killable: Killable, inputs: Path, tmp_path: Path, kind: str, kills: int
) -> None:
    began = time.monotonic()
    Desk(killable, tmp_path / "whole", inputs, kind).run()
    whole = time.monotonic() - began
    moments, done, runs = random.Random(f"{kind} {kills}"), 0, 0
    while done < kills:
        runs += 1
        desk = Desk(killable, tmp_path / str(runs), inputs, kind)
        while desk.run(kill_after=moments.uniform(0.0, 1.1) * whole).code is None and not desk.is_complete():
            done += 1
            desk.require_nothing_half()
        desk.run("--abandon")  # the last kill may have left an empty folder
        desk.require_whole()
        shutil.rmtree(desk.folder)


def test_r28_an_undisturbed_run_under_the_same_key_gives_the_same_files_byte_for_byte(
    killable: Killable, tmp_path: Path, inputs: Path
) -> None:
    """Through the command line as well: another release gets a copy of the key before its first word."""
    killed, undisturbed = (Desk(killable, tmp_path / name, inputs, "csv") for name in ("one", "other"))
    killed.run(kill_before="fsync rows.spool")
    undisturbed.run(kill_before="os.mkdir public")
    shutil.copy(killed.key, next((undisturbed.folder / "state").glob("*/key.json")))
    assert (killed.run().code, undisturbed.run().code) == (0, 0)
    for name in ("r.csv", "allocation.json", "manifest.json"):
        assert (killed.target.parent / name).read_bytes() == (undisturbed.target.parent / name).read_bytes()


def test_r28_rows_that_are_done_are_not_read_again(desk: Desk) -> None:
    desk.run(kill_before="os.link r.csv")
    ended = desk.run()
    assert ended.code == 0
    assert re.search(r"all rows are randomized \([1-9]\d\d wait on the disk\); they are written", ended.said)
    desk.require_whole()


def test_r28_what_is_done_already_is_said_in_each_of_the_two_passes(desk: Desk) -> None:
    begun = desk.run(kill_at=31)
    assert begun.steps[:31].count("fsync rows.spool") == 1  # the journal knows of the first rows
    assert "until this release is whole" in begun.said
    going_on = desk.run(kill_before="fsync * (deleted)")  # while the table is written
    assert re.search(r"going on after [1-9]\d\d rows", going_on.said)
    written = desk.run()
    assert "all rows are randomized" in written.said
    assert "going on after" not in written.said
    desk.require_whole()


@pytest.mark.parametrize("file_bytes", [10, 300, 1500, 4000])
def test_r28_a_full_disk_leaves_nothing_half_written_and_the_release_goes_on_when_there_is_space(
    desk: Desk, file_bytes: int
) -> None:
    full = desk.run(file_bytes=file_bytes)
    assert full.code == 2
    assert full.said.count("Error: ") == 1
    assert not desk.target.exists()
    desk.require_nothing_half()
    kept = desk.state() != []
    assert kept == ("--abandon" in full.said)
    if kept:
        assert re.search("the [0-9]+ rows that are done are kept", full.said)
        assert "make room first" in full.said
    assert "Choose a" not in full.said  # that would be another release
    assert not (kept and "nothing was left there" in full.said and "rows.spool" in full.said)
    assert kept == (file_bytes > 300)  # else not even the key and the journal had space
    assert desk.run().code == 0
    desk.require_whole()


def test_r28_a_target_that_is_read_only_is_refused_and_leaves_no_key(desk: Desk) -> None:
    desk.command = (*desk.command[:3], "-o", "/proc/r.csv")  # where not even root can make a file
    refused = desk.run()
    assert refused.code == 2
    assert refused.said.startswith("InputError: /proc")
    assert desk.state() == []


@pytest.mark.parametrize("step", ["fsync rows.spool", "os.link r.csv", "os.link manifest.json"])
def test_r28_a_target_that_becomes_read_only_gets_nothing_and_later_the_whole_release(
    desk: Desk, step: str
) -> None:
    refused = desk.run(read_only_from=step)
    assert refused.code == 2
    assert "Read-only file system" in refused.said
    assert "Run the same command again" in refused.said
    desk.require_nothing_half()
    assert "journal.json" in desk.state()
    assert desk.run().code == 0
    desk.require_whole()


def test_r28_ctrl_c_keeps_the_release_and_says_how_to_go_on(desk: Desk) -> None:
    stopped = desk.run(interrupt_after="fsync rows.spool")
    assert stopped.code == 130
    assert "Run the same command again" in stopped.said
    assert "--abandon" in stopped.said
    desk.require_nothing_half()
    assert desk.run().code == 0
    desk.require_whole()


def test_r28_the_judge_sees_all_rows_though_most_were_done_before_it_was_asked(desk: Desk) -> None:
    desk.run(kill_before="os.link r.csv")
    assert desk.run("--resume", "--internal", "inside").code == 0
    report = json.loads((desk.folder / "inside" / "verification.json").read_text())
    assert report.items() >= desk.undisturbed()[1].items()
    assert f"{ROWS} rows" in json.dumps(report)
    desk.require_whole()
