"""What a solver is asked and what it answers; the clock that both share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from budget_opt.certificate.certify import Certificate
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import relative_gap

Status = Literal["optimal", "feasible"]


@dataclass(frozen=True)
class Settings:
    """`gap` is the relative gap at which an answer is called optimal; `time_limit` in seconds, None for none.

    `solver` names a method of `table`, None for the default of the objective. `explanation_limit` is how many
    seconds the explanation of an impossible problem may take, but for single solves. `record`: bring along
    what proves the bound, whatever the method.
    """

    gap: float = 1e-6
    time_limit: float | None = None
    solver: str | None = None
    explanation_limit: float = 5.0
    record: bool = False


@dataclass(frozen=True)
class Report:
    """Where a solve stands: best value, proved bound (None while there is none), relative gap, seconds.

    `nodes` is how many boxes a search has bounded; None where there is no search.
    """

    value: float | None
    bound: float | None
    relative_gap: float
    seconds: float
    nodes: int | None = None


Callback = Callable[[Report], None]


@dataclass(frozen=True)
class Candidate:
    """A split of the budget and what is proved about it.

    `epsilon` (M,) in nats lies inside every bound, budget, floor and ceiling. `status` is "optimal" if and
    only if the certificate's relative gap is at most the one asked for. `interrupted`: Ctrl-C ended it.
    """

    epsilon: FloatArray
    certificate: Certificate
    status: Status
    solver: str
    seconds: float
    interrupted: bool = False


class OutOfTimeError(Exception):
    """The time limit passed; whoever has a point returns it. Never leaves `solvers`."""


class Clock:
    """Seconds since the start, the limit, and whether Ctrl-C has `interrupted`."""

    def __init__(self, limit: float | None) -> None:
        self._start = time.perf_counter()
        self._limit = limit
        self.interrupted = False

    @contextmanager
    def ending_early(self) -> Iterator[None]:
        """What stands in it may end at the time limit or at Ctrl-C, with what it has by then."""
        try:
            yield
        except OutOfTimeError:
            pass
        except KeyboardInterrupt:
            self.interrupted = True

    @property
    def seconds(self) -> float:
        """Since the clock was made."""
        return time.perf_counter() - self._start

    def left(self, share: float = 1.0) -> float:
        """Seconds until `share` of the limit is used; inf without a limit."""
        return float("inf") if self._limit is None else share * self._limit - self.seconds

    def check(self, share: float = 1.0) -> None:
        """Raise OutOfTimeError once `share` of the limit has passed, or after Ctrl-C."""
        if self.interrupted or self.left(share) <= 0:
            raise OutOfTimeError


@dataclass(frozen=True)
class Task:
    """One problem, what is asked, the running clock, and who wants to hear of progress.

    `starts` are splits (M,) of problems nearby: a weighted sum begins there, and not at many random ones.
    Anything may stand in them.
    """

    arrays: Arrays
    settings: Settings
    clock: Clock
    callback: Callback | None = None
    starts: Sequence[FloatArray] = ()

    def report(self, value: float | None, bound: float | None, nodes: int | None = None) -> None:
        """Tell the callback where the solve stands."""
        if self.callback is not None:
            gap = float("inf") if value is None or bound is None else relative_gap(value, bound)
            self.callback(Report(value, bound, gap, self.clock.seconds, nodes))
