"""R17: after a kill at any moment the ledger opens, and everything is spent that was released."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.ledger import file
from tests.ledger.charges import ALLOCATION, charge

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are forked and killed")
KILLS = 200
ASKED = charge(("a", "0.001"))


def forked(work: Callable[[], None]) -> int:
    """A process of its own that does this."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(1)
    return pid


def releasing(path: Path, released: Path) -> None:
    """Reserve, release and confirm until killed; a byte in `released` is a release that is out."""
    ledger = bo.Ledger.open(path)
    with released.open("ab", buffering=0) as out:
        for number in range(10_000):
            name = f"{os.getpid()} {number}"
            ledger.reserve("d", ASKED, name)
            out.write(b".")
            ledger.confirm(name, cells=os.urandom(32).hex(), rows=1, allocation_sha256=ALLOCATION)


def moment(path: Path, moments: random.Random) -> None:
    """Wait for a random time, and then, every second time, until somebody writes."""
    time.sleep(moments.uniform(0.01, 0.1))
    end = time.monotonic() + moments.choice([0.0, 0.2])
    while time.monotonic() < end and not path.with_name("ledger.db-journal").exists():
        pass


@pytest.mark.slow
def test_r17_after_200_kills_at_random_moments_it_opens_and_nothing_released_is_unspent(
    path: Path, tmp_path: Path, waiting_for_the_disk: None
) -> None:
    released, moments, journals = tmp_path / "released", random.Random(17), 0
    released.touch()
    bo.Ledger.create(path).register("d", bo.Caps(total=1e4))
    for _ in range(KILLS):
        pid = forked(lambda: releasing(path, released))
        moment(path, moments)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        journals += path.with_name("ledger.db-journal").exists()
        ledger, out = bo.Ledger.open(path), released.stat().st_size
        assert len(ledger.releases("d")) >= out
        assert ledger.spent("d").total >= 0.001 * out * (1 - 1e-12)
    # some of the kills came in the middle of writing, and some after releases
    assert journals > 0
    assert out > KILLS / 10
    # beside what was released, at most one reservation a kill
    assert len(ledger.releases("d")) <= out + KILLS


def half_a_commit(path: Path) -> None:
    """Die when a part of what a transaction changed stands in the file: a stale lock and a hot journal."""
    with closing(file.connected(path)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN IMMEDIATE")
        for number in range(100, 200):
            database.execute("INSERT INTO events VALUES (?, ?, ?)", (number, "x" * 3000, b""))
        database.execute("UPDATE head SET events = 199")
        os.kill(os.getpid(), signal.SIGKILL)


def test_r17_every_commit_and_every_witness_waits_for_the_disk(
    ledger: bo.Ledger, waiting_for_the_disk: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(file.connected(ledger.path)) as database:
        assert database.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert database.execute("PRAGMA journal_mode").fetchone() == (b"delete",)
    waited, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (waited.append(handle), fsync(handle)))
    ledger.register("d", bo.Caps(total=1.0))
    assert len(waited) == 2  # the witness, and its name in its folder


def test_r17_what_a_killed_process_had_half_written_is_taken_back(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=1.0))
    before = ledger.path.read_bytes()
    _, status = os.waitpid(forked(lambda: half_a_commit(ledger.path)), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    journal = ledger.path.with_name("ledger.db-journal")
    assert journal.exists()
    assert ledger.path.read_bytes() != before  # without the journal it would be damaged
    assert bo.Ledger.open(ledger.path).left("d").total == 1.0
    assert not journal.exists()
    assert ledger.path.read_bytes() == before


def test_r24_the_lock_of_a_killed_process_keeps_nobody_out(
    ledger: bo.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R24, stale lock: the lock is the system's, and ends with the process."""
    monkeypatch.setattr(file, "BUSY_SECONDS", 0.0)
    ledger.register("d", bo.Caps(total=1.0))
    waitpid = os.waitpid(forked(lambda: half_a_commit(ledger.path)), 0)
    assert waitpid[1] == signal.SIGKILL
    assert ledger.reserve("d", ASKED, "r1").number == 1


def test_a_lock_that_is_held_too_long_is_an_error_that_says_so(
    ledger: bo.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "BUSY_SECONDS", 0.05)
    ledger.register("d", bo.Caps(total=1.0))
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(bo.InputError, match="other processes have been writing for too long"):
            ledger.reserve("d", ASKED, "r1")
        assert ledger.left("d").total == 1.0  # who only reads need not wait
        other.execute("ROLLBACK")
    assert ledger.reserve("d", ASKED, "r1").number == 1
