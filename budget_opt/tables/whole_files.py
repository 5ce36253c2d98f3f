"""Files that are there only when they are whole (R28).

Until then a file has no name, where the system has such files (Linux: `O_TMPFILE`), so that nothing is
left of it however its process ends; elsewhere it is a hidden one, which every error takes away but not a
kill. It is brought to the disk before it gets its name. Its mode is what the process's umask says.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

import pyarrow as pa

from budget_opt.errors import DataError, InputError
from budget_opt.tables.translation import translated

T = TypeVar("T")

_PART = re.compile(r"\.[0-9a-f]{16}\.part")
"""What `hidden_in` gives."""


class NewFile:
    """A file in the making, in a folder: write to `raw`, then `complete` it and let it `appear`.

    It never has more rights than `mode`. Raises `OSError`.
    """

    def __init__(self, folder: Path, mode: int = 0o666) -> None:
        self._part: Path | None = None
        unnamed = _unnamed(folder, mode)
        if unnamed is None:
            self._part = hidden_in(folder)
            self._part.touch(mode, exist_ok=False)
            unnamed = self._part.open("wb")
        self.raw: IO[bytes] = unnamed

    def complete(self) -> None:
        """Bring the whole file to the disk."""
        self.raw.flush()
        os.fsync(self.raw.fileno())

    def appear(self, target: Path, *, overwrite: bool = False) -> None:
        """Give it this name, which takes no other file's place unless it may: `FileExistsError`."""
        if self._part is None and not overwrite:
            _link(self.raw, target)
        elif self._part is None:
            self._part = hidden_in(target.parent)
            _link(self.raw, self._part)
        self.raw.close()
        if self._part is not None:
            _rename(self._part, target, overwrite=overwrite)

    def discard(self) -> None:
        """Close it, and take it away unless it has appeared."""
        with suppress(OSError, ValueError):
            self.raw.close()
        if self._part is not None:
            with suppress(OSError):  # what ended the writing, such as a disk that broke, keeps its own words
                self._part.unlink(missing_ok=True)


@contextmanager
def new_file(target: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """A file to be written; at the end of the block it is there, after any exception nothing is.

    Raises `InputError` where it cannot be made or brought to the disk, or the target is there meanwhile.
    """
    file = written(target, lambda: NewFile(target.parent))
    try:
        yield file.raw
        written(target, file.complete)
        written(target, lambda: file.appear(target, overwrite=overwrite))
    finally:
        file.discard()
    folder_to_disk(target.parent)


@contextmanager
def discarded_after_failure(close: Callable[[], None]) -> Iterator[None]:
    """After an exception close what is half written, whatever that raises: its file goes away."""
    try:
        yield
    except BaseException:
        with suppress(OSError, ValueError, pa.ArrowException):
            close()
        raise


def hidden_in(folder: Path) -> Path:
    """A hidden name that nothing has."""
    return folder / f".{secrets.token_hex(8)}.part"


def parts_in(folder: Path) -> list[Path]:
    """The hidden files and folders in a folder that are in the making, or were left by a kill."""
    return [path for path in folder.iterdir() if _PART.fullmatch(path.name)]


def require_free(target: Path, *, overwrite: bool) -> None:
    """`InputError` where the target exists and may not be overwritten, or its folder does not exist."""
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}. Make it, or choose another one.")
    if target.is_dir():
        raise InputError(f"{target}: is a folder already, which is not overwritten. Give another name.")
    if not overwrite and (target.exists() or target.is_symlink()):
        raise _taken(target)


def written(target: Path, work: Callable[[], T]) -> T:
    """What `work` returns; its errors in our own words."""

    def explained(failure: Exception) -> InputError:
        if isinstance(failure, FileExistsError | NotADirectoryError):
            return _taken(target)
        if isinstance(failure, OSError):
            return InputError(
                f"{target}: cannot be written ({failure.strerror or 'output error'}), and nothing was left "
                "there. See that the folder can be written to and has space."
            )
        return DataError(f"{target}: a public column has values that this kind of file cannot hold.")

    return translated(work, explained)


def folder_to_disk(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can; the files themselves are there."""
    with suppress(OSError):
        sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; `OSError` where that fails."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _taken(target: Path) -> InputError:
    return InputError(
        f"{target}: exists already. A second draw is a second release and costs again: choose another name."
    )


def _unnamed(folder: Path, mode: int) -> IO[bytes] | None:
    """A file without a name, None where there is none, or where it could not be named when it is whole."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None

    def opened() -> IO[bytes]:
        return os.fdopen(os.open(folder, flag | os.O_RDWR, mode), "wb")

    trial = hidden_in(folder)
    try:
        # another file, since the system names one that lost its name no more
        with opened() as file:
            _link(file, trial)
        trial.unlink()
        return opened()
    except OSError:
        return None


def _link(file: IO[bytes], target: Path) -> None:
    """Give a name to a file without one."""
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        # with a folder's handle Python asks the system to follow the link in /proc to the file itself
        os.link(f"/proc/self/fd/{file.fileno()}", target.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _rename(part: Path, target: Path, *, overwrite: bool) -> None:
    if overwrite:
        part.replace(target)
        return
    try:
        target.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        require_free(target, overwrite=False)
        part.replace(target)
