"""How far each ledger was seen to have come, kept apart from it: an older copy in its place is noticed (R25).

The witness of a ledger is a small file in the user's state directory: the number and the hash of an event
that is in it. A ledger with fewer events, or another one there, is a copy that was restored from before
some release, or one of two copies that both went on. The witness is never ahead of the ledger, and behind it
by one event at most until the next call: by a confirmation, and not by the reservation before.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from budget_opt.errors import InputError, LedgerError
from budget_opt.ledger.events import Head
from budget_opt.tables.private_files import private_folder, write_private
from budget_opt.tables.state_directory import state_directory

FOLDER = "ledgers"
_ID = re.compile("[0-9a-f]{32}")
_HASH = re.compile("[0-9a-f]{64}")


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
        if document.pop("ledger") == ledger and set(document) == {"events", "hash"}:
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


def note(ledger: str, now: Head) -> None:
    """Remember that the ledger had this event; `InputError` where it cannot be written."""
    path = witness_path(ledger)
    private_folder(path.parent)
    document = {"ledger": ledger, "events": now.events, "hash": now.hash.hex()}
    write_private(json.dumps(document).encode(), path)
