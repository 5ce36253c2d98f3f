"""R18: what several processes were told that it is charged is recorded, and never passes the cap."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.errors import BudgetExceededError
from budget_opt.ledger import witness
from tests.ledger.charges import ALLOCATION, charge

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are forked")
PROCESSES, CHARGES = 4, 12
FORK = multiprocessing.get_context("fork")


def charging(path: Path, barrier: Barrier, accepted: Any) -> None:
    """Ask for a hundredth again and again; send the ids that were accepted."""
    ledger, asked, mine = bo.Ledger.open(path), charge(("a", "0.01")), []
    barrier.wait()
    for number in range(CHARGES):
        name = f"{os.getpid()} {number}"
        try:
            ledger.reserve("d", asked, name)
        except BudgetExceededError:
            continue
        if number % 2:
            ledger.confirm(name, cells=os.urandom(32).hex(), rows=1, allocation_sha256=ALLOCATION)
        mine.append(name)
    accepted.put(mine)


@pytest.mark.parametrize(("cap", "fits"), [(10.0, PROCESSES * CHARGES), (0.3, 30)])
def test_r18_what_is_recorded_is_what_was_accepted_and_never_above_the_cap(
    ledger: bo.Ledger, cap: float, fits: int
) -> None:
    ledger.register("d", bo.Caps(total=cap))
    barrier, accepted = FORK.Barrier(PROCESSES), FORK.Queue()
    workers = [FORK.Process(target=charging, args=(ledger.path, barrier, accepted)) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    told = [name for _ in workers for name in accepted.get(timeout=120)]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    recorded = [release.name for release in bo.Ledger.open(ledger.path).releases("d")]
    assert sorted(recorded) == sorted(told)
    assert len(recorded) == fits
    assert ledger.spent("d").total == fits / 100
    assert [release.number for release in ledger.releases("d")] == list(range(1, fits + 1))


def opening(path: Path, barrier: Barrier, failures: Any) -> None:
    """Open the ledger for every charge, as commands do; send what was refused."""
    barrier.wait()
    found = []
    for number in range(CHARGES):
        try:
            bo.Ledger.open(path).reserve("d", charge(("a", "0.01")), f"{os.getpid()} {number}")
            bo.Ledger.open(path).shown()
        except Exception as failure:  # noqa: BLE001 - whatever it is, the parent must hear of it
            found.append(repr(failure))
    failures.put(found)


def test_r18_opening_and_looking_never_fail_while_others_write(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=10.0))
    barrier, failures = FORK.Barrier(PROCESSES), FORK.Queue()
    workers = [FORK.Process(target=opening, args=(ledger.path, barrier, failures)) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    told = [failure for _ in workers for failure in failures.get(timeout=120)]
    for worker in workers:
        worker.join()
    assert told == []
    assert len(ledger.releases("d")) == PROCESSES * CHARGES
    assert witness.seen(ledger.id).events == len(ledger.events())
