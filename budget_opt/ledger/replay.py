"""From the rows of a ledger to its state: every hash and every event is checked on the way."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from budget_opt.ledger.events import BEFORE_THE_FIRST, Head, UnknownKindError, next_hash, read_event
from budget_opt.ledger.file import Row, Rows
from budget_opt.ledger.file_faults import no_ledger
from budget_opt.ledger.state import State


class Replay:
    """The state after the events that were read so far, and the hash of the last of them."""

    def __init__(self) -> None:
        self.state, self.hash = State(), BEFORE_THE_FIRST

    @property
    def head(self) -> Head:
        """Where the replay has come to."""
        return Head(self.state.count, self.hash)

    def catch_up(self, rows: Rows) -> None:
        """Replay what was appended since, or everything at first; a `LedgerError` names the first bad row.

        The replay is of no use after that.
        """
        first = self.state.count == 0
        if first:
            rows.require_sound()
        elif rows.hash_of(self.state.count) != self.hash:
            raise no_ledger(
                "it was read before, and is there no more: the file was replaced by an older copy, or edited",
                row=self.state.count,
            )
        self.read(rows.after(self.state.count))
        stated = rows.head()
        if stated.events != self.head.events:
            # the first that is there and must not be, or is not there and must be
            there = self.head.events
            what = "is not there" if there < stated.events else "is there and must not be"
            done = "taken away" if there < stated.events else "put in"
            raise no_ledger(
                f"it {what}: {there} events are there, and {stated.events} were written, so that some were "
                f"{done}",
                row=min(stated.events, there) + 1,
            )
        if stated != self.head:
            raise no_ledger("it is not the one that was written last: it was edited", row=stated.events)
        if first:
            self.require_key(rows)

    def require_key(self, rows: Rows) -> None:
        """`LedgerError` where the key is not the one that the ledger began with."""
        if sha256(rows.key()).hexdigest() != self.state.key_sha256:
            raise no_ledger("its key is not the one that it began with")

    def read(self, rows: Iterable[Row]) -> None:
        """Replay these rows."""
        for number, text, stated in rows:
            expected = self.state.count + 1
            if number != expected:
                raise no_ledger("it is missing", row=expected)
            if type(text) is not bytes or next_hash(self.hash, text) != stated:
                raise no_ledger(
                    "its hash is not that of its text after the event before: it, or one before it, was "
                    "edited, put in or moved",
                    row=expected,
                )
            try:
                self.state.apply(read_event(text))
            except UnknownKindError as newer:
                raise no_ledger(str(newer), "Use the version that wrote it.", row=expected) from None
            except (ValueError, RecursionError) as fault:
                raise no_ledger(f"it cannot be ({fault})", row=expected) from None
            self.hash = stated
