"""A command as a black box: CSV in, CSV out, no shell, its environment untouched.

Everything that a command is given is made up, so what it says on standard error may be shown.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from budget_opt.errors import DataError, InputError
from budget_opt.tables.csv_files import CsvSource
from budget_opt.verifier.auditing.samplers import SamplerError
from budget_opt.verifier.auditing.words import ending

INPUT, OUTPUT = "{input}", "{output}"
_SHOWN = 500


class CommandSampler:
    """A command and its arguments, each call a process of its own, with at most `time_limit` seconds.

    An argument with {input} gets the path of a CSV file with the records, one with {output} that of the
    CSV file to write; without them records come on standard input, and reports on standard output.
    """

    batched, in_process = True, False

    def __init__(self, arguments: Sequence[str], time_limit: float) -> None:
        if not arguments or not all(isinstance(argument, str) for argument in arguments):
            raise InputError(
                "sampler: must be a callable, or a command as a list of texts, the program first."
            )
        self._arguments, self._time_limit = tuple(arguments), time_limit
        self._writes_file = any(OUTPUT in argument for argument in arguments)

    def __call__(self, records: pa.Table) -> pa.Table:
        """The table that one run of the command writes, every cell text."""
        with tempfile.TemporaryDirectory(prefix="budget-opt-audit-") as folder:
            given, made = Path(folder) / "records.csv", Path(folder) / "reports" / "reports.csv"
            made.parent.mkdir()
            csv.write_csv(records, given)
            printed = self._run(given, made)
            if not self._writes_file:
                made.write_bytes(printed)
            return self._table(made)

    def _run(self, given: Path, made: Path) -> bytes:
        command = [
            argument.replace(INPUT, str(given)).replace(OUTPUT, str(made)) for argument in self._arguments
        ]
        try:
            with given.open("rb") as records:
                # a session of its own, so that what the command starts ends with it
                running = subprocess.Popen(
                    command,
                    stdin=records,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
        except OSError as failure:
            raise SamplerError(
                f"{self._arguments[0]}: cannot be started ({failure.strerror}). Give a program first."
            ) from None
        try:
            printed, said = running.communicate(timeout=self._time_limit)
        except BaseException as failure:
            _end(running)
            if not isinstance(failure, subprocess.TimeoutExpired):
                raise
            raise SamplerError(
                f"{self._arguments[0]}: had not ended after {self._time_limit:g} s. Raise the time limit."
            ) from None
        if running.returncode != 0:
            raise SamplerError(
                f"{self._arguments[0]}: ended with exit code {running.returncode}"
                f"{_tail(said)}. The records are made up; it gets them as CSV on standard input, or in the "
                "file {input}."
            )
        return printed

    def _table(self, made: Path) -> pa.Table:
        if not made.is_file() or made.stat().st_size == 0:
            where = "the file {output}" if self._writes_file else "standard output"
            raise SamplerError(
                f"{self._arguments[0]}: wrote nothing to {where}. It must write CSV with a header."
            )
        try:
            source = CsvSource(made)
            return pa.Table.from_batches(source.batches(source.names), source.schema)
        except DataError as failure:
            raise SamplerError(f"{self._arguments[0]}: did not write a CSV table. {failure}") from None


def _end(running: subprocess.Popen[bytes]) -> None:
    """End the process and what it started, and wait for it."""
    if os.name == "posix":
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.killpg(running.pid, signal.SIGKILL)
    else:
        running.kill()
    running.communicate()


def _tail(said: bytes) -> str:
    shown = ending(said.decode("utf-8", errors="replace"), _SHOWN)
    return f', saying "{shown}"' if shown else ""
