"""Giving whole files and folders their places beside one another: all of them, or none."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from budget_opt.errors import InputError
from budget_opt.tables.private_files import told
from budget_opt.tables.whole_files import folder_to_disk


class Placement(NamedTuple):
    """A whole file or folder, and the path that it is to get, on the same file system."""

    made: Path
    place: Path


def place_all(placements: Sequence[Placement]) -> None:
    """Give them their places, in this order; what is there already, byte for byte, stays.

    Raises `InputError` where something else is at a place, or it cannot be written; then nothing is there
    that was not before. What was made may be gone afterwards.
    """
    waiting = [placement for placement in placements if not _is_there(placement)]
    placed: list[Placement] = []
    try:
        for placement in waiting:
            told(placement.place, partial(_place, *placement))
            placed.append(placement)
    except BaseException:
        for placement in reversed(placed):
            _take_back(*placement)
        raise
    for folder in {placement.place.parent for placement in placements}:
        folder_to_disk(folder)


def _is_there(placement: Placement) -> bool:
    made, place = placement
    if not os.path.lexists(place):
        return False
    if not place.is_symlink() and told(place, lambda: _same(made, place)):
        return True
    raise _taken(place)


def _same(made: Path, place: Path) -> bool:
    """Whether both are files, or folders of files, with the same bytes."""
    if made.is_file() and place.is_file():
        return filecmp.cmp(made, place, shallow=False)
    if not (made.is_dir() and place.is_dir()):
        return False
    names = sorted(path.name for path in made.iterdir())
    return names == sorted(path.name for path in place.iterdir()) and all(
        _same(made / name, place / name) for name in names
    )


def _place(made: Path, place: Path) -> None:
    """In one step that takes no other file's place."""
    if made.is_file():
        try:
            place.hardlink_to(made)
        except FileExistsError:
            raise _taken(place) from None
        except OSError:  # a file system without hard links
            pass
        else:
            return
    if os.path.lexists(place):
        raise _taken(place)
    made.rename(place)


def _take_back(made: Path, place: Path) -> None:
    with suppress(OSError):
        if made.exists():
            place.unlink()
        else:
            place.rename(made)


def _taken(place: Path) -> InputError:
    return InputError(
        f"{place}: is there, and is not of this release. Move it away and run the same command again, or "
        "drop the unfinished release with --abandon."
    )
