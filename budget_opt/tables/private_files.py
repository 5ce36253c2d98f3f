"""Folders and files that only their owner can read, on the disk when the call returns."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from budget_opt.errors import InputError
from budget_opt.tables.whole_files import folder_to_disk

T = TypeVar("T")

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(folder: Path) -> None:
    """Make the folder, and its missing parents, with mode 0700; `InputError` where it is open to others."""
    told(folder, lambda: _make(folder))
    require_private_folder(folder)


def require_private_folder(folder: Path) -> None:
    """`InputError` where it is no folder of this user with mode 0700."""
    status = told(folder, folder.lstat)
    if not stat.S_ISDIR(status.st_mode):
        raise InputError(f"{folder}: is not a folder, or a link to one. Give the folder itself.")
    if os.name != "posix":
        return
    if status.st_uid != os.geteuid():
        raise InputError(f"{folder}: belongs to another user. Use a folder of your own.")
    if status.st_mode & _OTHERS:
        raise InputError(
            f"{folder}: is open to other users (mode {stat.S_IMODE(status.st_mode):04o}, must be 0700). "
            "If nobody else has been there: chmod 700."
        )


def write_private(content: bytes, path: Path) -> None:
    """Put the content in the place of what the file holds, in one step; `InputError` where that fails."""
    told(path, lambda: _replace(content, path))


def remove_folder(folder: Path) -> bool:
    """Remove a folder with what is in it; whether it was there. A link to one is never followed."""
    if not os.path.lexists(folder):
        return False
    told(folder, lambda: shutil.rmtree(folder))
    folder_to_disk(folder.parent)
    return True


def remove(path: Path) -> None:
    """Remove a file or a folder with what is in it."""
    if path.is_dir() and not path.is_symlink():
        remove_folder(path)
    else:
        told(path, path.unlink)


def told(path: Path, work: Callable[[], T]) -> T:
    """What `work` returns; what the system refuses becomes an `InputError` about `path`."""
    try:
        return work()
    except OSError as failure:
        raise InputError(
            f"{path}: cannot be used ({failure.strerror or 'input or output error'}). See that it "
            "can be written to and has space."
        ) from None


def _make(folder: Path) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        with suppress(FileExistsError):  # another process was faster; who owns it is looked at next
            place.mkdir(mode=0o700)
        folder_to_disk(place.parent)


def _replace(content: bytes, path: Path) -> None:
    waiting = path.with_name(f"{path.name}.new")
    try:
        waiting.unlink(missing_ok=True)
        handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(path)
    except BaseException:
        with suppress(OSError):
            waiting.unlink(missing_ok=True)
        raise
    folder_to_disk(path.parent)
