"""R19: no space, an I/O error, a read-only disk: an error, the old state whole, nothing recorded."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.ledger import file, file_faults, record
from tests.ledger.charges import charge

ASKED = charge(("a", "0.25"))
WORK = """
import os, sys, resource
import budget_opt as bo
from tests.ledger.charges import ALLOCATION, charge
if sys.argv[2] != "-":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    ledger, done = bo.Ledger.open(sys.argv[1]), 0
    print(ledger.left("d").total, flush=True)
    while done < 1000:
        ledger.reserve("d", charge(("a", "0.000001")), f"{'long name' * 100} {os.getpid()} {done}")
        done += 1
except bo.InputError as error:
    print(done)
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def run(path: Path, root: Path, room: str = "-", before: tuple[str, ...] = ()) -> tuple[int, list[str], str]:
    """Charge until it fails, in a process of its own: its exit code, the charges, and what it said."""
    # a compiled module that may not grow would be kept cut short, and break the next process
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*before, sys.executable, "-c", WORK, str(path), room]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.split(), done.stderr


@pytest.fixture
def started(ledger: bo.Ledger) -> bo.Ledger:
    ledger.register("d", bo.Caps(total=1.0))
    return ledger


@pytest.mark.skipif(os.name != "posix", reason="limits are of POSIX systems")
def test_r19_a_file_that_may_not_grow_is_an_error_and_what_was_accepted_is_there(
    started: bo.Ledger, root: Path
) -> None:
    room = started.path.stat().st_size + 20_000
    code, printed, said = run(started.path, root, str(room))
    assert code == 2, said
    assert "Nothing was recorded" in said
    done = int(printed[1])
    assert 5 < done < 1000
    assert len(bo.Ledger.open(started.path).releases("d")) == done


def _may_mount() -> bool:
    trial = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    try:
        return subprocess.run(trial, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    if not _may_mount():
        pytest.skip("this system lets nobody mount a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder


def mounted(disk: Path, ledger: Path, kilobytes: int, *then: str) -> tuple[str, ...]:
    """A command that runs the rest of its arguments with the ledger on a small disk, and copies it back."""
    steps = [
        f"mount -t tmpfs -o size={kilobytes}k,mode=0700 tmpfs {disk}",
        f"cp -p {ledger} {disk}/ledger.db",
        *then,
        f'"$@"; code=$?; cp -p {disk}/ledger.db {ledger}; ls -A {disk} >&2; exit $code',
    ]
    return ("unshare", "-m", "sh", "-c", " && ".join(steps), "sh")


def test_r19_a_disk_without_space_is_an_error_and_what_was_accepted_is_there(
    started: bo.Ledger, root: Path, disk: Path
) -> None:
    code, printed, said = run(disk / "ledger.db", root, before=mounted(disk, started.path, 48))
    assert code == 2, said
    assert "no space" in said
    assert said.split()[-1] == "ledger.db"  # the journal is gone
    done = int(printed[1])
    assert len(bo.Ledger.open(started.path).releases("d")) == done > 0


def test_r19_a_read_only_disk_can_be_looked_at_and_nothing_is_charged(
    started: bo.Ledger, root: Path, disk: Path
) -> None:
    before = mounted(disk, started.path, 1000, f"mount -o remount,ro {disk}")
    code, printed, said = run(disk / "ledger.db", root, before=before)
    assert code == 2, said
    assert printed == ["1.0", "0"]
    assert "cannot be written (read-only)" in said
    assert bo.Ledger.open(started.path).left("d").total == 1.0


def test_r19_a_witness_that_cannot_be_written_stops_the_charge(
    started: bo.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "taken"))
    with pytest.raises(InputError, match="taken"):
        started.reserve("d", ASKED, "r1")
    assert started.left("d").total == 1.0


class _Broken:
    """A connection on whose disk one step fails."""

    def __init__(self, database: sqlite3.Connection, step: str, code: str) -> None:
        self._database, self._step, self._code = database, step, code

    def execute(self, statement: str, *values: Any) -> Any:
        if statement.startswith(self._step):
            failure = sqlite3.OperationalError("disk I/O error")
            failure.sqlite_errorname = self._code
            raise failure
        return self._database.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


@pytest.mark.parametrize("step", ["BEGIN", "INSERT", "UPDATE", "COMMIT"])
@pytest.mark.parametrize(
    "code", ["SQLITE_IOERR_FSYNC", "SQLITE_FULL", "SQLITE_READONLY", "SQLITE_IOERR_LOCK"]
)
def test_r19_an_error_of_the_disk_at_any_step_leaves_the_old_state(
    started: bo.Ledger, monkeypatch: pytest.MonkeyPatch, step: str, code: str
) -> None:
    before, connected = started.path.read_bytes(), file.connected
    with monkeypatch.context() as broken:
        broken.setattr(file, "connected", lambda path: _Broken(connected(path), step, code))
        with pytest.raises(InputError, match="Nothing was recorded"):
            started.reserve("d", ASKED, "r1")
    assert started.path.read_bytes() == before
    assert started.left("d").total == 1.0
    assert started.reserve("d", ASKED, "r1").number == 1


def test_r19_after_a_commit_that_may_have_happened_the_file_is_believed_and_not_memory(
    started: bo.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = file.transaction

    @contextmanager
    def committed_with_an_error(path: Path, *, writing: bool) -> Iterator[file.Rows]:
        with transaction(path, writing=writing) as rows:
            yield rows
        if writing:
            raise InputError("the disk does not answer")

    with monkeypatch.context() as broken:
        broken.setattr(record.file, "transaction", committed_with_an_error)
        with pytest.raises(InputError, match="does not answer"):
            started.reserve("d", ASKED, "r1")
    assert started.left("d").total == 0.75  # it is spent, since it may be
    assert started.reserve("d", ASKED, "r1").number == 1


@pytest.mark.parametrize(
    "code", ["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CORRUPT_INDEX", "", "SQLITE_ERROR"]
)
def test_what_is_not_known_to_be_the_surroundings_is_a_damaged_ledger(code: str, path: Path) -> None:
    failure = sqlite3.DatabaseError("x")
    failure.sqlite_errorname = code
    with pytest.raises(bo.LedgerError, match="is damaged"), file_faults.translated(path):
        raise failure


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="See that its folder is there"):
        bo.Ledger.create(tmp_path / "no" / "ledger.db")
    assert not (tmp_path / "no").exists()
