"""A process beside this one that runs measurements: what hangs or crashes there is a row, not an end."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_ONE_THREAD = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)  # fmt: skip
START_LIMIT = 120.0
"""Seconds that a process may take to import and to warm up."""


class LimitError(Exception):
    """The measurement did not end within its hard limit; its process was ended."""


class FailedError(Exception):
    """The measurement raised, or its process died."""


@dataclass(frozen=True)
class Times:
    """What a call took: seconds of the clock on the wall, and of all processors of its process."""

    wall: float
    cpu: float


def stopwatch() -> Callable[[], Times]:
    """A clock that starts now."""
    wall, cpu = time.perf_counter(), time.process_time()
    return lambda: Times(time.perf_counter() - wall, time.process_time() - cpu)


def timed(function: Callable[[], Answer]) -> tuple[Times, Answer]:
    """The answer of a call and what it took."""
    now = stopwatch()
    answer = function()
    return now(), answer


def use_one_thread() -> None:
    """Linear algebra and Clarabel of processes started from here on run on one thread each."""
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))


class Worker:
    """Runs calls in one process, started anew after a call that did not end.

    `warm_up` is a module-level function without arguments, called once in every new process, so that imports
    and what is remembered from first calls are not part of any measurement.
    """

    def __init__(self, warm_up: Callable[[], object]) -> None:
        self._warm_up = warm_up
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __call__(self, function: Callable[..., Any], *arguments: object, limit: float) -> Any:
        """function(*arguments), a module-level function, within `limit` seconds.

        Raises LimitError and FailedError.
        """
        if self._pipe is None:
            self._start()
        return self._asked(function, arguments, limit)

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._asked(self._warm_up, (), START_LIMIT)

    def _asked(self, function: Callable[..., Any], arguments: tuple[object, ...], limit: float) -> Any:
        assert self._pipe is not None
        try:
            self._pipe.send((function, arguments))
            if not self._pipe.poll(limit):
                self.end()
                raise LimitError(f"did not end within {limit:g} s")
            succeeded, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            self.end()
            raise FailedError("its process died") from error
        if not succeeded:
            raise FailedError(answer)
        return answer


def _serve(pipe: Connection) -> None:
    """Answer calls until the other end closes."""
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = True, function(*arguments)
        except Exception as error:  # noqa: BLE001 (whatever it is becomes a row of the table)
            answer = False, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        pipe.send(answer)
