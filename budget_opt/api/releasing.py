"""From a table and an allocation to a release; nothing is drawn before the losses are checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require
from budget_opt.errors import InputError

if TYPE_CHECKING:
    from budget_opt.randomizer.files import FileOptions
    from budget_opt.randomizer.keyed_release import KeyedRelease
    from budget_opt.randomizer.release import Release

_ORDER = "Read one from a file with Allocation.read(path); the table comes first."


def randomize(
    table: Any,
    allocation: Allocation,
    row_order: Literal["shuffle", "public"] | None = None,
    *,
    release: KeyedRelease | None = None,
    row_id: str | None = None,
) -> Any:
    """Randomize a pandas or polars data frame or a pyarrow table; the same kind comes back.

    Every attribute is randomized with fresh words from the operating system, public columns pass as they
    are, attributes with epsilon 0 and dropped columns are left out, and rows are shuffled unless
    `row_order` (else the allocation's) is "public". Every call is another release of the same people:
    its loss adds.

    With a `release` the words come from its key, so that the same rows give the same reports, in the same
    order, whenever and wherever that is done: one release, whose loss counts once (see `KeyedRelease`
    for what that asks of you). Rows are known by the ids in the column `row_id`, which the problem
    must list under dropped or public, or else by their positions.

    Raises `DataError` (columns, counts and rows, never a value), `InputError`, `RandomSourceError`, and
    `VerificationError` for an allocation that overspends.
    """
    from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
    from budget_opt.randomizer.table import randomize_table
    from budget_opt.verifier.static import verify_privacy

    require(allocation, Allocation, "allocation", _ORDER)
    if isinstance(table, str | Path):
        raise InputError("table: is a path. Use randomize_file(source, allocation, target) for files.")
    if release is not None:
        require(release, KeyedRelease, "release", 'Make one with KeyedRelease("name of the data").')
    elif row_id is not None:
        raise InputError(
            "row_id: names the rows of a keyed release, and none is given. Give release=KeyedRelease(…), or "
            "leave row_id out."
        )
    verify_privacy(allocation).require()
    keyed = None if release is None else KeyedRows(release, row_id)
    return randomize_table(table, allocation, row_order=row_order, keyed=keyed).table


def randomize_file(
    source: str | Path, allocation: Allocation, target: str | Path, options: FileOptions | None = None
) -> Release:
    """Randomize a .csv, .csv.gz or .parquet file into another, which is there only when it is whole.

    A folder of .parquet files is read as one table, and a `target` without an ending becomes one. The
    file may be of any size: memory does not grow with its rows, and rows that wait to be shuffled,
    randomized already, wait on disk beside the target. What becomes of columns and rows is as in
    `randomize`, and every call is another release, whose loss adds; `FileOptions` says what else can be
    asked for: a keyed release and its `row_id`, the order of the rows, progress, replacing the target.

    It writes the table and nothing else, into a folder that must exist. The command `budget-opt randomize`
    makes the folder that leaves the house, with the allocation and a manifest. What comes back names the
    target, its columns and the number of rows.

    Raises `DataError` (the file, its columns, counts and rows, never a value), `InputError` (options; the
    target exists or cannot be written), `RandomSourceError`, and `VerificationError` for an allocation
    that overspends. After any of them there is no new target.
    """
    from budget_opt.randomizer.files import FileOptions, randomize_file
    from budget_opt.verifier.static import verify_privacy

    require(allocation, Allocation, "allocation", _ORDER)
    if options is not None:
        require(options, FileOptions, "options", "Write FileOptions(row_order=…, release=…, row_id=…).")
    verify_privacy(allocation).require()
    return randomize_file(source, allocation, target, options or FileOptions())
