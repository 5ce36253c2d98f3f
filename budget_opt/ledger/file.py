"""The file of a ledger: one SQLite database with rows of events, their head, and the key of its hashes.

What SQLite is asked for: one writer at a time, who has the lock before reading what to decide on (BEGIN
IMMEDIATE); a rollback journal, and the disk's own word for every commit, the removal of the journal included
(synchronous EXTRA). A process that is killed leaves a journal, from which the next one restores the
state before; the lock itself ends with the process. Every operation opens the file anew: no connection is
kept over a fork, and a file that was replaced is noticed.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from budget_opt.errors import InputError
from budget_opt.ledger.events import BEFORE_THE_FIRST, FORMAT, VERSION, Head, new_event, next_hash, text_of
from budget_opt.ledger.file_faults import BESIDE, no_ledger, require_name, require_own_file, translated
from budget_opt.tables.whole_files import NewFile, folder_to_disk

BUSY_SECONDS = 30.0
"""How long an operation waits while other processes write."""

SETTINGS = ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY")
"""What every connection asks of SQLite."""

KEY_BYTES = 32
MANIFEST = "manifest.json"
"""What lies beside a release."""
_BEFORE_ALL = -(2**63)
_APPLICATION = 0x426F4C67  # "BoLg", by which `file` and others can tell such a database
_ONE = "one INTEGER PRIMARY KEY CHECK (one = 1)"
_TABLES = {
    "events": "CREATE TABLE events (number INTEGER PRIMARY KEY, event TEXT NOT NULL, hash BLOB NOT NULL)",
    "head": f"CREATE TABLE head ({_ONE}, events INTEGER NOT NULL, hash BLOB NOT NULL)",
    "secret": f"CREATE TABLE secret ({_ONE}, key BLOB NOT NULL)",
}


Row = tuple[int, bytes, bytes]
"""One event as it is stored: its number, its text, and the hash."""


def create(path: Path) -> None:
    """Make a new ledger, there only when it is whole, with mode 0600 from its first byte.

    Raises `InputError` where something is at the path, or the journal of what was.
    """
    require_name(path)
    if (path.parent / MANIFEST).exists():
        raise InputError(
            f"{path}: lies in the folder of a release ({MANIFEST} is there), which is passed on. Keep the "
            "ledger in a folder of its own."
        )
    for taken in (path, *_beside(path)):
        if taken.exists() or taken.is_symlink():
            raise InputError(
                f"{taken}: exists already. A new ledger in the place of one would forget what was spent: "
                "use that one, or choose another name."
            )
    content = _content()
    try:
        file = NewFile(path.parent, mode=0o600)
        try:
            file.raw.write(content)
            file.complete()
            file.appear(path)
        finally:
            file.discard()
    except OSError as failure:
        raise InputError(
            f"{path}: cannot be made ({failure.strerror or 'output error'}). See that its folder is there, "
            "can be written to and has space."
        ) from None
    folder_to_disk(path.parent)


def _content() -> bytes:
    """The bytes of a ledger that has only begun."""
    key = secrets.token_bytes(KEY_BYTES)
    begun = new_event(
        "begin",
        format=FORMAT,
        version=VERSION,
        ledger=secrets.token_hex(16),
        key_sha256=sha256(key).hexdigest(),
    )
    text = text_of(begun)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        for statement in _TABLES.values():
            database.execute(statement)
        database.execute("INSERT INTO secret VALUES (1, ?)", (key,))
        database.execute("INSERT INTO head VALUES (1, 0, ?)", (BEFORE_THE_FIRST,))
        Rows(database).append(text, next_hash(BEFORE_THE_FIRST, text))
        return database.serialize()


class Rows:
    """The rows, inside of one transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def head(self) -> Head:
        """The head, as it is stored."""
        events, last = self._one("SELECT events, hash FROM head")
        if not isinstance(events, int) or not isinstance(last, bytes):
            raise no_ledger("its head is none")
        return Head(events, last)

    def key(self) -> bytes:
        """The key of the keyed hashes."""
        (key,) = self._one("SELECT key FROM secret")
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise no_ledger("its key is none")
        return key

    def hash_of(self, number: int) -> bytes | None:
        """The hash of one event, None where there is none of this number."""
        found = self._database.execute("SELECT hash FROM events WHERE number = ?", (number,)).fetchone()
        return None if found is None else found[0]

    def after(self, number: int) -> Iterator[Row]:
        """The events with a higher number, in order; after 0 all of them, whatever their numbers are."""
        wanted = "SELECT number, event, hash FROM events WHERE number > ? ORDER BY number"
        return self._database.execute(wanted, (number or _BEFORE_ALL,))

    def require_sound(self) -> None:
        """`LedgerError` where the pages of the database are not as SQLite left them."""
        (said,) = self._one("PRAGMA quick_check(1)")
        if said != b"ok":
            raise no_ledger("its pages are damaged")

    def append(self, event: bytes, hash_: bytes) -> int:
        """Put an event behind the last one; its number."""
        number = self.head().events + 1
        self._database.execute("INSERT INTO events VALUES (?, ?, ?)", (number, event.decode("ascii"), hash_))
        self._database.execute("UPDATE head SET events = ?, hash = ?", (number, hash_))
        return number

    def _one(self, statement: str) -> tuple[object, ...]:
        """The only row that a statement finds."""
        found = self._database.execute(statement).fetchmany(2)
        if len(found) != 1:
            raise no_ledger("a row that must be there once is not")
        row: tuple[object, ...] = found[0]
        return row


@contextmanager
def transaction(path: Path, *, writing: bool) -> Iterator[Rows]:
    """The rows of the ledger at the path, as they are at one moment.

    For `writing` nobody else writes until the end of the block, which brings what was appended to the
    disk; an exception in the block takes it back. Raises `InputError` for what the system or another
    process keeps from being done, and `LedgerError` for a file that is not a ledger as it was left.
    """
    require_own_file(path)
    with translated(path), closing(connected(path)) as database:
        database.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        try:
            _require_form(database)
            yield Rows(database)
            database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # what is closed in a transaction is rolled back as well
                database.execute("ROLLBACK")
            raise


def connected(path: Path) -> sqlite3.Connection:
    """A connection to the database at the path, with our settings; `sqlite3.Error` where there is none."""
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    try:
        # as bytes: text that is no Unicode is then found where it is read, and the hash is of what is stored
        database.text_factory = bytes
        for setting in SETTINGS:
            database.execute(f"PRAGMA {setting}")
    except BaseException:
        database.close()
        raise
    return database


def _require_form(database: sqlite3.Connection) -> None:
    """Refuse another database, another version, and tables or triggers that are not ours."""
    application, version, mode = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version", "journal_mode")
    )
    found = {
        name.decode(errors="replace"): (kind, statement)
        for kind, name, statement in database.execute("SELECT type, name, sql FROM sqlite_master")
    }
    if application != _APPLICATION:
        raise no_ledger("it is no ledger of budget_opt" if found or application else "it is empty")
    if version != VERSION:
        raise no_ledger(
            f"it is of version {version}, and this budget_opt knows version {VERSION}",
            "Use the version of budget_opt that wrote it.",
        )
    expected = {name: (b"table", statement.encode()) for name, statement in _TABLES.items()}
    if found != expected or mode != b"delete":
        raise no_ledger("its tables are not those of a ledger")


def _beside(path: Path) -> tuple[Path, ...]:
    """What SQLite keeps beside a database, and would take for a new one's."""
    return tuple(path.with_name(f"{path.name}{ending}") for ending in BESIDE)
