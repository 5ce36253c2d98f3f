"""Runs the command line in processes of their own that can be killed at every step they take on the disk.

As a script it is a server: it imports the package once, forks a process for every order that comes on its
standard input, and says how that ended. A *step* is a name that is made, moved or removed, a file that is
opened to be written, an fsync, or half of a write into the spool. The forked process takes everything in
small pieces, so that a small table has many checkpoints.
"""

from __future__ import annotations

import dataclasses
import errno
import functools
import importlib
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir")
IMPORTED = (
    "pandas",
    "pyarrow.pandas_compat",
    "budget_opt.allocation.document",
    "budget_opt.allocation.overstated",
    "budget_opt.cli.option_names",
    "budget_opt.randomizer.files",
    "budget_opt.randomizer.manifest",
    "budget_opt.randomizer.resuming.codes_digest",
    "budget_opt.randomizer.resuming.placing",
    "budget_opt.randomizer.resuming.replay",
    "budget_opt.randomizer.resuming.unfinished",
    "budget_opt.randomizer.resuming.waiting",
    "budget_opt.tables.fingerprints",
    "budget_opt.verifier.static",
    "budget_opt.verifier.streamed",
)
"""What a release, or pyarrow for it, would import in every process."""
CHANCE = re.compile("[0-9a-f]{12,}|(?<=.json.)[a-z0-9_]{8}|^[0-9]+$|#[0-9]+")
"""What is another name in every run."""

_READY = "ready"


@dataclasses.dataclass(frozen=True)
class Order:
    """One run of the command line in `folder`, with the state directory `state` in it.

    It is killed before step number `kill_at` (from 1), or before the first with the name `kill_before`, or
    interrupted as by Ctrl-C after the first with the name `interrupt_after`. From the step with the name
    `read_only_from` on no name can be made or moved in the folder `public`, as where a disk becomes read-only
    after an error. It can write files of at most `file_bytes`. As soon as there is a key it is copied to
    `keep_key`.
    """

    arguments: tuple[str, ...]
    folder: str
    kill_at: int | None = None
    kill_before: str | None = None
    interrupt_after: str | None = None
    file_bytes: int | None = None
    read_only_from: str | None = None
    keep_key: str | None = None


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code (None: killed), what it said, and the names of its steps."""

    code: int | None
    said: str
    steps: list[str]


class Killable:
    """The server, and orders to it; a context manager."""

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        # a module that is compiled and kept in one run and not in the next would shift the steps
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [sys.executable, __file__]
        self._server = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        # what is imported has no part in how long a run takes, by which a test chooses its moments
        assert json.loads(self._server.stdout.readline()) == _READY
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def run(self, order: Order, *, kill_after: float | None = None) -> Ended:
        """Carry an order out; with `kill_after` the process is killed after so many seconds."""
        self._say(json.dumps(dataclasses.asdict(order)))
        pid = int(self._server.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(pid, signal.SIGKILL)  # until the server is told to wait for it the number is its own
        self._say("wait for it")
        return Ended(**json.loads(self._server.stdout.readline()))

    def _say(self, line: str) -> None:
        self._server.stdin.write(line + "\n")
        self._server.stdin.flush()


def serve() -> None:
    """Carry out the orders on standard input."""
    for module in IMPORTED:
        importlib.import_module(module)
    importlib.import_module("budget_opt.cli.app").parser()
    _answer(_READY)
    for line in sys.stdin:
        order = Order(**json.loads(line))
        said, steps = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            _carry_out(order, said[1], steps[1])
        _answer(pid)
        sys.stdin.readline()
        _, status = os.waitpid(pid, 0)
        code = None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
        text = [_everything(*pipe) for pipe in (said, steps)]
        _answer({"code": code, "said": text[0], "steps": text[1].splitlines()})


def _answer(content: object) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def _everything(read: int, write: int) -> str:
    os.close(write)
    with os.fdopen(read) as file:
        return file.read()


def _carry_out(order: Order, said: int, steps: int) -> None:
    """Run the command line in this process, and end it."""
    code = 99
    try:
        os.chdir(order.folder)
        os.environ["BUDGET_OPT_STATE_DIR"] = str(Path(order.folder, "state"))
        sys.stdin = io.StringIO()
        sys.stdout = sys.stderr = os.fdopen(said, "w", buffering=1)
        # a shell in which the tests run in the background has Ctrl-C ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _take_small_pieces()
        if order.file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (order.file_bytes, order.file_bytes))
        _watch_steps(order, steps)
        from budget_opt.cli import main

        code = main(order.arguments)
    finally:
        os._exit(code)


def _take_small_pieces() -> None:
    from budget_opt.randomizer import sorting
    from budget_opt.randomizer.resuming import unfinished
    from budget_opt.tables import reading

    unfinished.SECONDS = 0.0
    sorting.WAITING_BYTES = 2**12
    byte_of_key = sorting._byte_of_key
    sorting._byte_of_key = lambda batch, level: (
        byte_of_key(batch, level) & 0b11000000
    )  # four buckets, not 256
    reading.CsvSource = functools.partial(reading.CsvSource, block_bytes=2**12)
    reading.ParquetSource = functools.partial(reading.ParquetSource, batch_rows=200)


def _watch_steps(order: Order, counted: int) -> None:
    from budget_opt.randomizer.resuming import unfinished

    steps = _Steps(order, counted)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        writing = (
            event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if event in NAMES or writing:
            steps.take(event, arguments[1 if event == "os.link" else 0])

    def fsync(handle: int, *, really: Any = os.fsync) -> None:
        steps.take("fsync", Path(f"/proc/self/fd/{handle}").readlink())
        really(handle)

    class Halved(io.FileIO):
        """Of the writes into the spool, which are many, a kill can halve every third."""

        writes = 0

        def write(self, content: Any) -> int:
            self.writes += 1
            if self.writes % 3:
                return super().write(content)
            content = memoryview(content).cast("B")
            first = super().write(content[: len(content) // 2])
            steps.take("half a write", "rows.spool")
            return first + super().write(content[first:])

    sys.addaudithook(hook)
    os.fsync = fsync
    unfinished.io = types.SimpleNamespace(FileIO=Halved)


class _Steps:
    """Notes the steps of this process, and ends it before the one that the order names."""

    def __init__(self, order: Order, counted: int) -> None:
        self._order, self._counted = order, counted
        self._done, self._busy, self._read_only = 0, False, False

    def take(self, what: str, path: object) -> None:
        if self._busy:  # a step of this very method
            return
        self._busy = True
        self._done += 1
        order, name = self._order, f"{what} {CHANCE.sub('*', Path(str(path)).name)}"
        os.write(self._counted, f"{name}\n".encode())
        self._keep_key()
        if self._done == order.kill_at or name == order.kill_before:
            os.kill(os.getpid(), signal.SIGKILL)
        self._busy = False
        self._read_only |= name == order.read_only_from
        if self._read_only and what in NAMES and "public" in str(path):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if name == order.interrupt_after:
            signal.raise_signal(signal.SIGINT)

    def _keep_key(self) -> None:
        kept = self._order.keep_key
        if kept is None or Path(kept).exists():
            return
        # whole or not at all: a kill at a moment of its own may come in the middle of this as well
        half = Path(self._order.folder, "half a kept key.json")
        for key in Path(self._order.folder, "state").glob("*/key.json"):
            if not key.parent.name.endswith(".new"):
                half.write_bytes(key.read_bytes())
                half.chmod(0o600)
                half.rename(kept)


if __name__ == "__main__":
    serve()
