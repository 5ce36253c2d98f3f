"""What can be wrong with the file of a ledger, said in our own words."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from budget_opt.errors import InputError, LedgerError

RESTORE = (
    "Restore it from a backup that has every release, and see what is missing with: budget-opt ledger check. "
    "Do not begin another one in its place: what was spent stays spent."
)

BESIDE = ("-journal", "-wal", "-shm")
"""How the names of files end that SQLite keeps beside a database."""
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How a journal begins."""


class NoLedger(Exception):  # noqa: N818 - nobody sees it: `translated` gives it a path, as a `LedgerError`
    """What is wrong with a file, where its path is not known."""

    def __init__(self, reason: str, remedy: str, row: int | None) -> None:
        super().__init__(reason)
        self.reason, self.remedy, self.row = reason, remedy, row


def no_ledger(reason: str, remedy: str = RESTORE, *, row: int | None = None) -> NoLedger:
    """What `translated` makes a `LedgerError` about its path of; `row` is the first event that is wrong."""
    return NoLedger(reason, remedy, row)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors of the block as those about the ledger at this path: `InputError`, or `LedgerError`."""
    try:
        yield
    except NoLedger as fault:
        where = f"{path}: " if fault.row is None else f"{path}: event {fault.row}: "
        raise LedgerError(f"{where}{fault.reason}. {fault.remedy}", row=fault.row) from None
    # and where its own words quote bytes that are no Unicode, sqlite3 fails in saying them
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as failure:
        raise _in_words(path, getattr(failure, "sqlite_errorname", "")) from None


def _in_words(path: Path, code: str) -> InputError | LedgerError:
    for start, (reason, remedy) in _REASONS.items():
        if code.startswith(start):
            return InputError(f"{path}: {reason}. {remedy}")
    return LedgerError(f"{path}: is damaged ({code or 'it cannot be read'}). {RESTORE}")


_SPACE = "Nothing was recorded, and what was there is as it was. Make room, and run this again."
_LOCKS = ("its file system cannot lock it", "Nothing was recorded. Keep it on a disk of this machine.")
_RIGHTS = ("cannot be opened", "Nothing was recorded. See that it and its folder can be read and written.")
_REASONS = {
    "SQLITE_BUSY": (
        "other processes have been writing for too long",
        "Let them end, or stop them, and run this again; nothing was recorded.",
    ),
    "SQLITE_FULL": ("there is no space on its disk", _SPACE),
    "SQLITE_READONLY": (
        "cannot be written (read-only)",
        "Nothing was recorded. The ledger and its folder must be writable where a release is charged.",
    ),
    "SQLITE_IOERR_LOCK": _LOCKS,
    "SQLITE_IOERR_UNLOCK": _LOCKS,
    "SQLITE_IOERR_RDLOCK": _LOCKS,
    "SQLITE_PROTOCOL": _LOCKS,
    "SQLITE_IOERR": ("its disk reported an error, or has no space", _SPACE),
    "SQLITE_CANTOPEN": _RIGHTS,
    "SQLITE_PERM": _RIGHTS,
    "SQLITE_AUTH": _RIGHTS,
    "SQLITE_NOMEM": (
        "there is not enough memory",
        "Nothing was recorded. Run this again where there is more.",
    ),
}
"""By the beginning of SQLite's name of the error; the first that fits counts."""


def require_own_file(path: Path) -> None:
    """`InputError` unless it is a file of this user, with mode 0600, not a link, under one name.

    So must be the journal, which SQLite would believe; and what it would take for a stale one it deletes, so
    that nothing else may lie there. The ledger is looked at and never opened here: when a file is closed, the
    system drops the locks that this process has on it by any other handle.
    """
    require_name(path)
    status = _status(path)
    if status is None:
        raise InputError(
            f"{path}: there is no ledger. Begin one with: budget-opt ledger init. If there was one, restore "
            "it from a backup: what was spent stays spent."
        )
    _require_own(path, status)
    if status.st_size == 0:
        raise LedgerError(f"{path}: is empty, so that nobody can say what was spent. {RESTORE}")
    for beside in (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm")):
        if _status(beside) is not None:
            raise InputError(
                f"{beside}: lies beside the ledger, which has no such file, and SQLite would read it or "
                "delete it. If it is of another program, move it away; else restore "
                f"the ledger from a backup: {path}."
            )
    journal = path.with_name(f"{path.name}-journal")
    if (found := _status(journal)) is not None:
        _require_own(journal, found)
        _require_journal(journal)


def require_name(path: Path) -> None:
    """`InputError` for a name that SQLite gives to what lies beside a database, or that nobody can type."""
    if path.name.lower().endswith(BESIDE):
        raise InputError(
            f"{path}: SQLite gives such names to files beside a database, and deletes them. Give the ledger "
            f"a name that does not end in {', '.join(BESIDE)}."
        )
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{str(path)!r}: is not text in Unicode. Give the ledger another path.") from None


def _require_journal(path: Path) -> None:
    """`InputError` for what is no journal: SQLite would delete it."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_JOURNAL))
    except FileNotFoundError:
        return  # another process has just removed it
    except OSError as failure:
        raise InputError(f"{path}: cannot be read ({failure.strerror}). Check the path.") from None
    # one that was only begun is empty, or zeros
    if start.strip(b"\0") and start != _JOURNAL:
        raise InputError(
            f"{path}: is no journal of the ledger beside it, and SQLite would delete it. Give it another "
            "name."
        )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as failure:
        why = getattr(failure, "strerror", None) or "it is no path"
        raise InputError(f"{path}: cannot be read ({why}). Check the path.") from None


def _require_own(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = "a link" if stat.S_ISLNK(status.st_mode) else "not a file"
        raise InputError(f"{path}: is {what}. Give the path of the ledger itself.")
    # 0: another process has just removed its journal
    if status.st_nlink > 1:
        raise InputError(
            f"{path}: has {status.st_nlink} names (hard links), and its journal would be sought under one of "
            "them. Copy it to a name of its own."
        )
    if os.name != "posix":
        return
    if status.st_uid != os.geteuid():
        raise InputError(
            f"{path}: belongs to another user. Use a ledger of your own, or run this as its owner."
        )
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(
            f"{path}: is open to other users (mode {stat.S_IMODE(status.st_mode):04o}, must be 0600), and it "
            "holds a key. If nobody else has been there: chmod 600."
        )
