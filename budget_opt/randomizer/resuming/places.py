"""Where an unfinished release is kept: its key and journal far from the target, its rows beside it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from budget_opt.errors import InputError
from budget_opt.tables.state_directory import STATE_DIR, state_directory

KEY = "key.json"
JOURNAL = "journal.json"

_LONGEST_NAME = 255
"""Bytes of the longest name that file systems take."""


@dataclass(frozen=True)
class Places:
    """The places of one target: `target` and `root`, the state directory, are absolute."""

    target: Path
    root: Path

    @property
    def state(self) -> Path:
        """The folder of key and journal; it is there only with both."""
        return self.root / self._name

    @property
    def key(self) -> Path:
        """The key file."""
        return self.state / KEY

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.state / JOURNAL

    @property
    def coming_state(self) -> Path:
        """The folder in which they are made; a key in it has given no word."""
        return self.root / f"{self._name}.new"

    @property
    def lock(self) -> Path:
        """The file that one process at a time holds."""
        return self.root / f"{self._name}.lock"

    @property
    def workplace(self) -> Path:
        """The hidden folder beside the target; nothing in it was not randomized, or is not public."""
        hidden = f".{self.target.name}.unfinished"
        if len(os.fsencode(hidden)) > _LONGEST_NAME:
            hidden = f".{self._name}.unfinished"
        return self.target.with_name(hidden)

    @property
    def rows(self) -> Path:
        """The spool: the rows that are done."""
        return self.workplace / "rows.spool"  # with an ending that no table has

    @property
    def made(self) -> Path:
        """The released table before it gets its place."""
        return self.workplace / self.target.name

    @property
    def _name(self) -> str:
        return hashlib.sha256(os.fsencode(self.target)).hexdigest()[:32]


def places_of(target: Path) -> Places:
    """The places of a release to `target`.

    Raises `InputError` where the state directory is in the folder of the release or that in it, since
    who is given the one would have the key as well, and for a `BUDGET_OPT_STATE_DIR` that is not absolute.
    """
    folder, root = target.parent.resolve(), state_directory()
    if root.resolve().is_relative_to(folder):
        raise InputError(
            f"{root}: the state directory, where the key of an unfinished release is kept, lies in the "
            f"folder of the release, {folder}, which is passed on. Release into a folder of its own, or set "
            f"{STATE_DIR} to one elsewhere."
        )
    if folder.is_relative_to(root.resolve()):
        raise InputError(
            f"{target}: lies in the state directory {root}, where the keys of unfinished releases are kept. "
            "Release into another folder."
        )
    return Places(folder / target.name, root)
