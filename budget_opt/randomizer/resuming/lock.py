"""One process at a time: a lock of the system on an open file, which ends with the process that has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from budget_opt.errors import InputError
from budget_opt.tables.file_locks import take
from budget_opt.tables.private_files import told


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock of this file for the block; `InputError` about `what` where another process has it.

    The file is removed at the end. One that a killed process left behind locks nothing.
    """
    handle = told(path, lambda: _acquired(path))
    if handle is None:
        raise InputError(
            f"{what}: another process works on this release. Let it end, or stop it, and then run this again."
        )
    try:
        yield
    finally:
        with suppress(OSError):  # where an open file cannot be removed it stays, empty
            path.unlink()
        os.close(handle)


def _acquired(path: Path) -> int | None:
    """The locked file, None where it is taken."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            take(handle)
        except (BlockingIOError, PermissionError):
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        if _is_at(path, handle):
            return handle
        # the last holder removed the file after this process had opened it: that lock keeps nobody out
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
