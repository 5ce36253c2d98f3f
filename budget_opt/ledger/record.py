"""The file of a ledger and its state, kept together: read, and write after reading, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from budget_opt.errors import InputError, LedgerError
from budget_opt.ledger import file, witness, wording
from budget_opt.ledger.events import Event, new_event, next_hash, read_event, text_of
from budget_opt.ledger.replay import Replay
from budget_opt.ledger.state import State


class Record:
    """The record in a file, which is opened anew for everything that is done with it; safe in threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._replay, self._lock = Replay(), threading.RLock()

    def require_newest(self, older: str | None) -> None:
        """`LedgerError` where it is older than what was seen of it; `older` says why it may be."""
        with self.reading() as (state, rows):
            head, seen = self._replay.head, witness.seen(state.ledger)
            found = None if seen is None else rows.hash_of(seen.events)
        if seen is None or found == seen.hash:
            if seen != head:
                # who may only read can still look at a ledger
                with suppress(InputError):
                    witness.follow(state.ledger, seen, head, self.path)
            return
        if older is None:
            raise LedgerError(wording.older(self.path, head.events, seen.events, other=found is not None))
        self.write(lambda state: new_event("older", seen=seen.events, why=older), accepting=True)

    @contextmanager
    def reading(self) -> Iterator[tuple[State, file.Rows]]:
        """The state at this moment, and the rows; nothing changes in the block."""
        with self._lock, self._whole_or_anew(), file.transaction(self.path, writing=False) as rows:
            self._replay.catch_up(rows)
            yield self._replay.state, rows

    def write(self, decide: Callable[[State], Event | None], *, accepting: bool = False) -> State:
        """Append the event that is decided on, if any, while nobody else writes; the state afterwards.

        It is on the disk when the call returns, and where it raises, nothing was recorded. Raises
        `LedgerError` for a copy that is older than what was seen, unless it is `accepting` that.
        """
        with self._lock, self._whole_or_anew(), ExitStack() as until_it_is_followed:
            with file.transaction(self.path, writing=True) as rows:
                self._replay.catch_up(rows)
                event = decide(self._replay.state)
                if event is not None:
                    until_it_is_followed.enter_context(witness.locked(self._replay.state.ledger))
                    if not accepting:
                        self._require_witnessed(rows)
                    self._append(rows, event)
            if event is not None:
                # it is recorded: a witness that cannot be written now is one event behind
                with suppress(InputError):
                    witness.note(self._replay.state.ledger, self._replay.head, self.path)
            return self._replay.state

    def _require_witnessed(self, rows: file.Rows) -> None:
        """The witness is of the event before, which is on the disk whatever becomes of the next one."""
        head, seen = self._replay.head, witness.seen(self._replay.state.ledger)
        found = None if seen is None else rows.hash_of(seen.events)
        if seen is not None and found != seen.hash:
            raise LedgerError(wording.older(self.path, head.events, seen.events, other=found is not None))
        if seen != head:
            witness.note(self._replay.state.ledger, head, self.path)

    def _append(self, rows: file.Rows, event: Event) -> None:
        text = _checked_text(event)
        hash_ = next_hash(self._replay.hash, text)
        number = rows.append(text, hash_)
        # before it is brought to the disk: nothing is recorded that no replay would take
        self._replay.read([(number, text, hash_)])

    def key(self) -> bytes:
        """The key of the keyed hashes."""
        with self.reading() as (_, rows):
            self._replay.require_key(rows)
            return rows.key()

    def events(self) -> list[tuple[int, Event]]:
        """All events with their numbers."""
        with self.reading() as (_, rows):
            return self.events_of(rows)

    @staticmethod
    def events_of(rows: file.Rows) -> list[tuple[int, Event]]:
        """All events with their numbers, of the moment of the rows."""
        return [(number, read_event(text)) for number, text, _ in rows.after(0)]

    @contextmanager
    def _whole_or_anew(self) -> Iterator[None]:
        """After a failure the state may be half way: the next call replays everything."""
        try:
            yield
        except BaseException:
            self._replay = Replay()
            raise


def _checked_text(event: Event) -> bytes:
    """The text of an event that somebody asks to record; `InputError` where it says what none can."""
    try:
        text = text_of(event)
        read_event(text)
    except (TypeError, ValueError) as fault:
        raise InputError(f"{event['kind']}: cannot be recorded ({fault}). Nothing was.") from None
    return text
