"""What `randomize --resume` refuses, keeps, drops, and where it keeps what: R7, R35."""

from __future__ import annotations

import errno
import functools
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from budget_opt.api.releasing.publishing import Watch
from budget_opt.cli import main
from budget_opt.cli.commands_data import IN_NO_LEDGER
from budget_opt.errors import VerificationError
from budget_opt.randomizer import files, sorting
from budget_opt.randomizer.resuming import unfinished
from budget_opt.tables import csv_files, reading
from budget_opt.tables.state_directory import STATE_DIR


@pytest.fixture
def here(tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the inputs as the current one, with a state directory, and checkpoints all the time."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "state"))
    monkeypatch.setattr(unfinished, "SECONDS", 0.0)
    return tmp_path


RELEASE = ("randomize", "allocation.json", "data.csv", "-o", "public/r.csv")


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_r35_faulty_cells_drop_the_unfinished_release_and_show_no_value(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = here / "data.csv"
    data.write_text(data.read_text() + "x,1,1,CANARY,w1\n")
    before = everything(here)
    assert main([*RELEASE, "--resume"]) == 2
    said = capsys.readouterr().err
    assert "column 'region'" in said
    assert "is dropped" in said
    assert "CANARY" not in said
    assert everything(here) == sorted([*before, "state"])


def test_a_failed_verification_drops_the_unfinished_release(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(watch: Watch) -> None:
        raise VerificationError("a check fails")

    monkeypatch.setattr(Watch, "verify", fail)
    before = everything(here)
    assert main([*RELEASE, "--resume", "--internal", "inside"]) == 1
    assert "is dropped" in capsys.readouterr().err
    assert everything(here) == sorted([*before, "state"])


def test_an_original_that_cannot_be_read_for_a_moment_keeps_what_is_done(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "WAITING_BYTES", 2**10)
    monkeypatch.setattr(reading, "CsvSource", functools.partial(csv_files.CsvSource, block_bytes=2**12))
    read = csv_files._next

    def broken(reader: Any) -> pa.RecordBatch | None:
        batch = read(reader)
        if batch is None:
            raise OSError(errno.EIO, "Input/output error")
        return batch

    monkeypatch.setattr(csv_files, "_next", broken)
    assert main([*RELEASE, "--resume"]) == 2
    assert "Run the same command again" in capsys.readouterr().err
    monkeypatch.setattr(csv_files, "_next", read)
    assert main([*RELEASE, "--resume"]) == 0
    assert "going on after" in capsys.readouterr().err


def test_r7_without_a_key_from_the_system_nothing_is_begun(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: b"")
    before = everything(here)
    assert main([*RELEASE, "--resume"]) == 2
    assert "RandomSourceError" in capsys.readouterr().err
    assert everything(here) == sorted([*before, "state"])


def test_key_journal_and_waiting_rows_are_for_their_owner_only(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(watch: Watch) -> None:
        state = next(path for path in (here / "state").iterdir() if path.is_dir())
        folders = (here / "state", state, here / "public" / ".r.csv.unfinished")
        files = (*state.iterdir(), here / "public" / ".r.csv.unfinished" / "rows.spool")
        assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
        assert sorted(path.name for path in state.iterdir()) == ["journal.json", "key.json"]

    monkeypatch.setattr(Watch, "verify", look)
    assert main([*RELEASE, "--resume", "--internal", "inside"]) == 0


def test_the_key_is_never_beside_the_release(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for state in (here / "public" / "state", here / "public"):
        monkeypatch.setenv(STATE_DIR, str(state))
        assert main([*RELEASE, "--resume"]) == 2
        assert "which is passed on" in capsys.readouterr().err
    monkeypatch.setenv(STATE_DIR, str(here))
    assert main([*RELEASE, "--resume"]) == 2
    assert "lies in the state directory" in capsys.readouterr().err
    monkeypatch.setenv(STATE_DIR, "state")
    assert main([*RELEASE, "--resume"]) == 2
    assert "must be an absolute path" in capsys.readouterr().err
    assert not (here / "public").exists()


def test_a_state_directory_that_others_can_enter_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "state").mkdir()
    (here / "state").chmod(0o750)
    assert main([*RELEASE, "--resume"]) == 2
    assert "chmod 700" in capsys.readouterr().err
    assert list((here / "state").iterdir()) == []


def test_without_resume_no_state_is_kept_and_nothing_is_said_of_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RELEASE]) == 0
    assert capsys.readouterr().err == f"{IN_NO_LEDGER}\n"
    assert not (here / "state").exists()


def test_resume_and_abandon_together_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(here)
    assert main([*RELEASE, "--resume", "--abandon"]) == 2
    assert "Give one of them" in capsys.readouterr().err
    assert main([*RELEASE, "--abandon"]) == 0
    assert "nothing to abandon" in capsys.readouterr().out
    assert everything(here) == before


def test_a_release_that_could_not_get_its_place_is_refused_before_a_key_is_made(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "public").mkdir()
    (here / "public" / "r.csv").write_text("other\n")
    assert main([*RELEASE, "--resume"]) == 2
    assert "exists already" in capsys.readouterr().err
    (here / "public" / "r.csv").unlink()
    (here / "inside").mkdir()
    (here / "inside" / "verification.json").write_text("{}")
    assert main([*RELEASE, "--resume", "--internal", "inside"]) == 2
    assert "could not be made again" in capsys.readouterr().err
    assert list((here / "state").iterdir()) == []


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("public/..", "is a folder"),
        ("public/r.json", "must end in"),
        ("public/r\udcff.csv", "not text in Unicode"),
        ("data.csv", "is the original itself"),
    ],
)
@pytest.mark.parametrize("resume", [["--resume"], []])
def test_a_target_that_can_never_be_is_refused_before_a_word_is_drawn(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    fault: str,
    resume: list[str],
) -> None:
    """Its manifest could not be written at the end, or a message would tell of a hidden name."""

    def drawn(*_: Any) -> Any:
        raise AssertionError("words are drawn")

    monkeypatch.setattr(files, "drawing_for", drawn)
    before = everything(here)
    assert main([*RELEASE[:4], target, *resume]) == 2
    said = capsys.readouterr().err
    assert fault in said
    assert "unfinished" not in said
    assert everything(here) == before


@pytest.mark.parametrize("name", ["n" * 240 + ".csv", "n" * 251 + ".csv", "é" * 120 + ".parquet", "n" * 255])
def test_the_longest_names_can_be_resumed(here: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    command = [*RELEASE[:4], f"public/{name}", "--resume"]
    with monkeypatch.context() as patched:
        patched.setattr("budget_opt.randomizer.resuming.placing.place_all", stop)
        assert main(command) == 130
    assert main(command) == 0
    assert {path.name for path in Path("public").iterdir()} == {name, "allocation.json", "manifest.json"}


@pytest.mark.parametrize("remains", [".other.csv.unfinished", ".0123456789abcdef.part"])
@pytest.mark.parametrize("resume", [["--resume"], []])
def test_r35_a_folder_with_what_is_left_of_a_stopped_release_gets_no_other(
    here: Path, capsys: pytest.CaptureFixture[str], remains: str, resume: list[str]
) -> None:
    """Who is given the folder would have two noisy copies of the same records."""
    left = here / "public" / remains
    left.mkdir(parents=True)
    before = everything(here)
    assert main([*RELEASE, *resume]) == 2
    said = capsys.readouterr().err
    assert remains in said
    assert "stopped" in said
    assert [path for path in everything(here) if path != "state"] == before
    left.rmdir()
    assert main([*RELEASE, *resume]) == 0
