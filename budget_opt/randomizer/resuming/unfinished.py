"""One unfinished release, from its first call to its last.

Key and journal are on the disk before the first word is drawn. They come into being together, by the
renaming of a folder: a key without a journal beside it has given no word, and is thrown away. They go
in an order in which every kill leaves what the next run understands: rows, key, journal.
"""

from __future__ import annotations

import io
import os
import time
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

from budget_opt.errors import InputError
from budget_opt.randomizer.files import SavedSpool
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.randomizer.resuming.journal import Circumstances, Journal, Stage, differences, read_journal
from budget_opt.randomizer.resuming.places import JOURNAL, KEY, Places
from budget_opt.tables.private_files import (
    private_folder,
    remove,
    remove_folder,
    require_private_folder,
    told,
)
from budget_opt.tables.state_directory import STATE_DIR
from budget_opt.tables.whole_files import folder_to_disk

SECONDS = 2.0
"""Time between two checkpoints: so much work is lost at most, beside what waits in memory."""

_DATA = "one release of budget-opt randomize --resume"


class Unfinished:
    """A release under way, and the checkpoints that the randomizer asks for; hold the lock of its places."""

    def __init__(self, places: Places, journal: Journal) -> None:
        self.places, self.journal = places, journal
        self._file: io.FileIO | None = None
        self._saved = -SECONDS

    @cached_property
    def release(self) -> KeyedRelease:
        """The keyed release of the key file."""
        return KeyedRelease.read(self.places.key)

    @property
    def has_rows(self) -> bool:
        """Whether a row has been drawn, or may have been."""
        return self.journal.rows > 0 or self.places.rows.exists()

    def open_spool(self) -> SavedSpool:
        """The file of the rows that are done.

        One that is gone, or shorter than it was, is begun anew: under the same key every row gets the
        reports that it had, so nothing is drawn a second time.
        """
        path = self.places.rows
        self._file = told(path, lambda: io.FileIO(str(path), "r+", opener=_private_opener))
        if os.fstat(self._file.fileno()).st_size < self.journal.length:
            self._note(rows=0, length=0)
        return SavedSpool(self._file, self.journal.length, self.journal.rows)

    def save(self, rows: int, length: int) -> None:
        """Note that the first `rows` rows are in the first `length` bytes, not more often than `SECONDS`."""
        if self._file is None or time.monotonic() - self._saved < SECONDS:
            return
        spool = self._file.fileno()
        told(self.places.rows, lambda: os.fsync(spool))
        self._note(rows=rows, length=length)
        self._saved = time.monotonic()

    def begin_drawing(self, originals: str) -> None:
        """Note, before the first word, that the charge is made, and the hash of the cells that are drawn for.

        In a later run they must be the same: words are known by position, so that rows which changed places
        would get a second report of the same people. `InputError` where they are not.
        """
        if not self.journal.drawing:
            self._note(drawing=True, originals=originals)
        elif self.journal.originals not in (None, originals):
            path = self.journal.circumstances.source.path
            raise InputError(
                f"{path}: holds other cells, or in another order, than when this release was begun. Restore "
                "it, or drop the release with --abandon and begin anew."
            )

    def all_randomized(self) -> None:
        """Note that no row is left to be read; a later run says so, and goes through what was not saved."""
        if self.journal.stage == "randomizing":
            self.enter("writing")

    def enter(self, stage: Stage) -> None:
        """Note the stage."""
        self._note(stage=stage)

    def reporting(self, path: Path) -> None:
        """Note that the internal report at `path` is of this release from now on."""
        self._note(report=str(path.resolve()))

    def reports_to(self, path: Path) -> bool:
        """Whether what is at `path`, if anything, is the internal report of this release."""
        return self.journal.report == str(path.resolve())

    def close(self) -> None:
        """Let go of the spool; everything stays for another run."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self) -> None:
        """Delete rows, key and journal of a release that is placed."""
        self.close()
        _remove(self.places)

    def drop(self) -> None:
        """Give the release up: delete rows, key and journal, and the folders that were made for it."""
        self.close()
        self.enter("dropped")
        _remove_dropped(self.places, self.journal)

    def _note(self, **changes: object) -> None:
        journal = self.journal.model_copy(update=changes)
        journal.write(self.places.journal)
        self.journal = journal


def has_state(places: Places) -> bool:
    """Whether a release to this target has been begun and not been ended."""
    return os.path.lexists(places.journal) or os.path.lexists(places.key)


def is_begun(places: Places) -> bool:
    """Whether there is anything of an unfinished release, also what only a kill can leave."""
    parts = (places.state, places.coming_state, places.workplace)
    return any(os.path.lexists(part) for part in parts)


def clear_remains(places: Places) -> None:
    """Delete what kills leave where nothing is unfinished: an empty folder, a key that gave no word."""
    if not has_state(places):
        for remains in (places.state, places.coming_state):
            remove_folder(remains)


def journal_of(places: Places) -> Journal | None:
    """The journal of the release that was begun; None where there is none, or it was given up.

    Raises `InputError` where it is damaged, or its folder is open to others.
    """
    if not has_state(places):
        return None
    require_private_folder(places.state)
    journal = read_journal(places.journal)
    return None if journal.stage == "dropped" else journal


def open_unfinished(places: Places, circumstances: Circumstances, charge: str | None = None) -> Unfinished:
    """The release that was begun, else a new one; its hidden folder is there and holds its rows at most.

    `charge` is the name under which a ledger will have a new one.

    Raises `InputError` where the circumstances are others than at the beginning, where key or journal
    are damaged or open to others, where a place cannot be made, and where rows of a release whose state
    is elsewhere wait at the target.
    """
    journal = journal_of(places)
    if journal is not None:
        return _resumed(places, journal, circumstances)
    if has_state(places):  # a kill came between giving it up and deleting it
        _remove_dropped(places, read_journal(places.journal))
    return _begun(places, circumstances, charge)


def abandon(places: Places) -> Journal | None:
    """Delete rows, key and journal of a target, whatever their state; the journal, None where none is whole.

    What is at the target and was put there by a release that is not whole goes, too. Where all of it is there
    it stays, and the stage is "placed".
    """
    journal = None
    if has_state(places):
        with suppress(InputError):
            journal = read_journal(places.journal)
    if journal is not None and journal.stage == "placing":
        journal = journal.model_copy(update={"stage": _unplaced_or_whole(places)})
    if journal is None:
        _remove(places)
    else:
        Unfinished(places, journal).drop()
    return journal


def _begun(places: Places, circumstances: Circumstances, charge: str | None) -> Unfinished:
    if os.path.lexists(places.workplace):
        raise InputError(
            f"{places.workplace}: rows of an unfinished release wait there, and its key is not in "
            f"{places.root}. Set {STATE_DIR} as it was then, or delete them with --abandon and begin anew."
        )
    missing = [folder for folder in reversed(places.target.parents) if not folder.exists()]
    new_folders = [str(folder) for folder in missing]
    journal = Journal(circumstances=circumstances, new_folders=new_folders, charge=charge)
    try:
        private_folder(places.coming_state)
        KeyedRelease(_DATA).write(places.coming_state / KEY)
        journal.write(places.coming_state / JOURNAL)
        told(places.state, lambda: places.coming_state.rename(places.state))
        folder_to_disk(places.root)
        _make_workplace(places)
    except BaseException:
        with suppress(InputError):
            remove_folder(places.coming_state)
            _remove_dropped(places, journal)
        raise
    return Unfinished(places, journal)


def _resumed(places: Places, journal: Journal, circumstances: Circumstances) -> Unfinished:
    different = differences(journal.circumstances, circumstances)
    if different:
        raise InputError(
            f"{places.target}: its unfinished release cannot go on, since {'; '.join(different)}. Restore "
            "what it was begun with, or drop it with --abandon, which deletes its key, and begin anew."
        )
    if journal.stage != "placed":
        _make_workplace(places)
        for path in places.workplace.iterdir():
            if path != places.rows:
                remove(path)
    return Unfinished(places, journal)


def _make_workplace(places: Places) -> None:
    told(places.target.parent, lambda: places.target.parent.mkdir(parents=True, exist_ok=True))
    told(places.workplace, lambda: places.workplace.mkdir(mode=0o700, exist_ok=True))
    require_private_folder(places.workplace)


def _unplaced_or_whole(places: Places) -> Stage:
    """Take away what is at the target as another name of a file in the hidden folder, unless all of it is."""
    made = [path for path in places.workplace.glob("*") if path != places.rows]
    placed = [path for path in made if _is_placed(path, places.target.with_name(path.name))]
    if places.target.exists() and placed == made:
        return "placed"
    for path in placed:
        place = places.target.with_name(path.name)
        told(place, place.unlink)
    return "placing"


def _is_placed(made: Path, place: Path) -> bool:
    return place.is_file() and place.samefile(made)


def _remove_dropped(places: Places, journal: Journal) -> None:
    remove_folder(places.workplace)
    for folder in reversed(journal.new_folders):
        with suppress(OSError):  # other things are in it now
            Path(folder).rmdir()
    _remove(places)


def _remove(places: Places) -> None:
    remove_folder(places.workplace)
    told(places.key, partial(places.key.unlink, missing_ok=True))
    folder_to_disk(places.state)
    told(places.journal, partial(places.journal.unlink, missing_ok=True))
    clear_remains(places)


def _private_opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
