"""Live lines on standard error while work goes on; silent where nobody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from budget_opt.api.frontiers.making import FrontierProgress
    from budget_opt.solvers.answer import Report


@contextmanager
def solve_progress() -> Iterator[Callable[[Report], None] | None]:
    """A status line with value, bound and gap, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status("solving") as status:
        yield lambda report: status.update(_line(report))


def _line(report: Report) -> str:
    value = "-" if report.value is None else f"{report.value:.6g}"
    bound = "-" if report.bound is None else f"{report.bound:.6g}"
    nodes = "" if report.nodes is None else f"{report.nodes:,} nodes, "
    return f"value {value}, bound {bound}, gap {report.relative_gap:.1e}, {nodes}{report.seconds:.1f} s"


@contextmanager
def points_progress() -> Iterator[Callable[[FrontierProgress], None] | None]:
    """A bar with the points that are done and the last value, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("solving", total=None)
        yield lambda report: bar.update(
            task, completed=report.done, total=report.points, description=_point(report)
        )


def _point(report: FrontierProgress) -> str:
    return f"at {report.at:g}: value {'-' if report.value is None else f'{report.value:.6g}'}"


@contextmanager
def rows_progress() -> Iterator[Callable[[int, float], None] | None]:
    """A bar with the share that is done, rows, rows a second and the time left, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield RowsBar(bar).show


class RowsBar:
    """Shows rows that are read, and after them, counted anew, rows that are written.

    `clock` gives seconds. The speed is that since the first rows that are shown: rows that were done when
    a release is resumed took no time.
    """

    def __init__(self, bar: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar, self._clock = bar, clock
        self._stage = _Stage("randomized", bar.add_task("rows randomized", total=1.0))

    def show(self, rows: int, share: float) -> None:
        """So many rows are done, which are this share of the work."""
        if rows < self._stage.rows:
            self._bar.update(self._stage.task, visible=False)
            self._stage = _Stage("written", self._bar.add_task("rows written", total=1.0))
        said = self._stage.said(rows, self._clock())
        self._bar.update(self._stage.task, completed=share, description=said)


class _Stage:
    def __init__(self, what: str, task: TaskID) -> None:
        self.task, self.rows = task, 0
        self._what = what
        self._first: tuple[int, float] | None = None

    def said(self, rows: int, now: float) -> str:
        """How far it is, and how fast."""
        self.rows = rows
        first_rows, began = self._first = self._first or (rows, now)
        speed = f", {(rows - first_rows) / (now - began):,.0f} a second" if now > began else ""
        return f"{rows:,} rows {self._what}{speed}"
