"""The bar of a release: rows, rows a second, the time left, and a second stage while rows are written."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console
from rich.progress import Progress

from budget_opt.cli.progress import RowsBar, rows_progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def bar_and_tasks(clock: Clock) -> tuple[RowsBar, Progress]:
    progress = Progress(console=Console(file=io.StringIO()))
    return RowsBar(progress, clock), progress


def test_rows_and_their_speed_are_told() -> None:
    clock = Clock()
    bar, progress = bar_and_tasks(clock)
    bar.show(1000, 0.1)
    assert progress.tasks[0].description == "1,000 rows randomized"
    clock.now = 2.0
    bar.show(5000, 0.5)
    assert progress.tasks[0].description == "5,000 rows randomized, 2,000 a second"
    assert progress.tasks[0].completed == 0.5
    assert progress.tasks[0].total == 1.0


def test_rows_that_were_done_before_count_for_no_speed() -> None:
    clock = Clock()
    bar, progress = bar_and_tasks(clock)
    bar.show(10_000_000, 0.5)
    clock.now = 1.0
    bar.show(10_000_500, 0.6)
    assert progress.tasks[0].description == "10,000,500 rows randomized, 500 a second"


def test_writing_is_a_stage_of_its_own() -> None:
    clock = Clock()
    bar, progress = bar_and_tasks(clock)
    bar.show(5000, 1.0)
    clock.now = 1.0
    bar.show(100, 0.02)
    clock.now = 2.0
    bar.show(600, 0.12)
    assert [task.visible for task in progress.tasks] == [False, True]
    assert progress.tasks[1].description == "600 rows written, 500 a second"
    assert progress.tasks[1].completed == 0.12


def test_nobody_is_told_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with rows_progress() as progress:
        assert progress is None
