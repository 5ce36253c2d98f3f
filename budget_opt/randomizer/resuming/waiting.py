"""What of unfinished releases a folder holds, for whoever would release into it as well."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from budget_opt.errors import InputError
from budget_opt.randomizer.resuming.journal import Journal
from budget_opt.randomizer.resuming.places import places_of
from budget_opt.randomizer.resuming.unfinished import journal_of

_WORKPLACE = re.compile(r"\.(.+)\.unfinished")


class Waiting(NamedTuple):
    """An unfinished release: its hidden folder, and its journal, None where that is elsewhere or damaged.

    `table` is the name of its table; where that was too long to be in the folder's name it is not known.
    """

    workplace: Path
    table: str | None
    journal: Journal | None

    def __str__(self) -> str:
        named = "an unfinished release" if self.table is None else f"the unfinished release {self.table}"
        done = "stopped" if self.journal is None else f"stopped with {self.journal.rows:,} rows done"
        return f"{named} ({done}, or being made just now; its rows wait in {self.workplace})"

    @property
    def ways_out(self) -> str:
        """What can be done about it."""
        return (
            "Go on with it: the command that began it, with --resume. Give it up: that command with "
            "--abandon. Or choose another folder."
        )

    @property
    def beside_a_release(self) -> str:
        """What can be done about it where a manifest is in the folder."""
        if self.journal is not None and self.journal.stage in ("placing", "placed"):
            return "If it is the same release, clear that away: the same command with --resume, or --abandon."
        return "It cannot go on beside another release: give it up, by its own command with --abandon."


def waiting_in(folder: Path) -> list[Waiting]:
    """The unfinished releases that wait in a folder, which need not be there."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    found = [(name, _WORKPLACE.fullmatch(name)) for name in names]
    return [_waiting(folder / name, match[1]) for name, match in found if match is not None]


def _waiting(workplace: Path, table: str) -> Waiting:
    # where its state is elsewhere, damaged, or out of reach it is unfinished all the same
    with suppress(InputError):
        places = places_of(workplace.with_name(table))
        if places.workplace.name != workplace.name:
            return Waiting(workplace, None, None)
        return Waiting(workplace, table, journal_of(places))
    return Waiting(workplace, table, None)
