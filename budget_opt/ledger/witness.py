"""How far each ledger was seen to have come, kept apart from it: an older copy in its place is noticed (R25).

The witness of a ledger is a small file in the user's state directory: the number and the hash of an event
that is in it. A ledger with fewer events, or another one there, is a copy that was restored from before
some release, or one of two copies that both went on. The witness is never ahead of the ledger, and follows it
as soon as an event is on the disk; a process that is killed between leaves it one event behind, until the
next call. It never goes back.

Whoever appends holds the lock of the witness from before the comparison until it has followed, so that of
two copies of a ledger only one goes on. It works for one user on one machine: a copy elsewhere has another
witness, and there only the manifests of the releases can tell (`Ledger.check`).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from budget_opt.errors import InputError, LedgerError
from budget_opt.ledger.events import Head
from budget_opt.tables.file_locks import take
from budget_opt.tables.private_files import private_folder, told, write_private
from budget_opt.tables.state_directory import state_directory

FOLDER = "ledgers"
BUSY_SECONDS = 30.0
"""How long one waits for others who append."""
_ID = re.compile("[0-9a-f]{32}")


def witness_path(ledger: str) -> Path:
    """Where the witness of a ledger with this id is."""
    if not _ID.fullmatch(ledger):
        raise LedgerError("the ledger's id is none. Restore the ledger from a backup.", row=1)
    return state_directory() / FOLDER / f"{ledger}.json"


def require_place() -> None:
    """Make the folder of the witnesses; `InputError` where that cannot be."""
    private_folder(state_directory() / FOLDER)


def seen(ledger: str) -> Head | None:
    """The furthest that was seen of this ledger, None where nothing was.

    Raises `InputError` for a witness that is damaged.
    """
    path = witness_path(ledger)
    try:
        document = json.loads(path.read_bytes())
        if document.pop("ledger") == ledger and set(document) - {"place"} == {"events", "hash"}:
            found = Head(document["events"], bytes.fromhex(document["hash"]))
            if type(found.events) is int and found.events > 0 and len(found.hash) == 32:
                return found
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        raise InputError(f"{path}: cannot be read ({failure.strerror}). See to its rights.") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise InputError(
        f"{path}: is damaged, so that nobody can say whether the ledger is an older copy. If it is the "
        "newest one that you have, delete this file."
    )


@contextmanager
def locked(ledger: str) -> Iterator[None]:
    """Nobody else of this user looks at the witness and follows it in the block.

    Raises `InputError` where the state directory cannot be used, or others keep the lock for too long.
    """
    path = witness_path(ledger).with_suffix(".lock")
    private_folder(path.parent)
    handle = told(path, lambda: os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    try:
        _wait_for(handle, path)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path) -> None:
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            take(handle)
            return
        except (BlockingIOError, PermissionError):
            if time.monotonic() > end:
                raise InputError(
                    f"{path}: another process has kept this lock for too long. Let it end, or stop it, and "
                    "run this again; nothing was recorded."
                ) from None
        time.sleep(0.002)


def follow(ledger: str, before: Head | None, now: Head, place: Path) -> None:
    """Remember that the ledger had this event, unless somebody has moved the witness from `before` since.

    Raises `InputError` where it cannot be written.
    """
    with locked(ledger):
        if seen(ledger) == before:
            note(ledger, now, place)


def note(ledger: str, now: Head, place: Path) -> None:
    """Remember that the ledger at this place had this event, for who has the lock; or `InputError`."""
    path = witness_path(ledger)
    private_folder(path.parent)
    # a path may be of bytes that are no text
    where = os.fsencode(place.absolute()).hex()
    document = {"ledger": ledger, "events": now.events, "hash": now.hash.hex(), "place": where}
    write_private(json.dumps(document).encode(), path)


def known_at(place: Path) -> Head | None:
    """How far the ledger had come that this user last saw at a place, whether or not it is there now."""
    where, found = os.fsencode(place.absolute()).hex(), []
    for path in sorted((state_directory() / FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, LookupError, TypeError):
            document = json.loads(path.read_bytes())
            if document["place"] == where:
                found.append(Head(int(document["events"]), bytes.fromhex(document["hash"])))
    return max(found, default=None)
