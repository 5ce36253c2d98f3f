"""A ledger in a folder of its own, with a state directory of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.ledger import file
from budget_opt.tables.state_directory import STATE_DIR


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is there for every process at once, and after a kill, if not after a power cut."""
    if "waiting_for_the_disk" not in request.fixturenames:
        monkeypatch.setattr(file, "SETTINGS", ("synchronous = OFF", *file.SETTINGS[1:]))
        monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def waiting_for_the_disk() -> None:
    """As it is outside of the tests."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a ledger that is not there yet."""
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> bo.Ledger:
    """A ledger without a data set."""
    return bo.Ledger.create(path)


@pytest.fixture
def umask() -> Iterator[None]:
    """Nothing is masked: a file has the mode that it was made with."""
    before = os.umask(0)
    yield
    os.umask(before)
