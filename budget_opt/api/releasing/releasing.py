"""From a table and an allocation to a release; nothing is drawn before the losses are checked."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require
from budget_opt.api.charging.charging import Bill, Payer
from budget_opt.errors import InputError
from budget_opt.model.provenance import release_warning

if TYPE_CHECKING:
    from budget_opt.randomizer.files import FileOptions, OnReleased
    from budget_opt.randomizer.keyed_release import KeyedRelease
    from budget_opt.randomizer.release import Release, RowOrder
    from budget_opt.randomizer.table import TableInMemory

_ORDER = "Read one from a file with Allocation.read(path); the table comes first."
_PAYER = 'Write Payer("name of the data set", ledger).'


def randomize(
    table: Any,
    allocation: Allocation,
    row_order: Literal["shuffle", "public"] | None = None,
    *,
    release: KeyedRelease | None = None,
    row_id: str | None = None,
    charge_to: Payer | None = None,
) -> Any:
    """Randomize a pandas or polars data frame or a pyarrow table; the same kind comes back.

    Every attribute is randomized with fresh words from the operating system, the members of a cluster as one
    and into columns of their own. Public columns pass as they are, attributes with epsilon 0 and dropped
    columns are left out, and rows are shuffled unless `row_order` (else the allocation's) is "public". Every
    call is another release of the same people: its loss adds.

    With a `release` the words come from its key, so that the same rows give the same reports, in the same
    order, whenever and wherever that is done: one release, whose loss counts once (see `KeyedRelease`
    for what that asks of you). Rows are known by the ids in the column `row_id`, which the problem
    must list under dropped or public, or else by their positions.

    With `charge_to` (see `Payer`) the data set of a ledger pays, before the first word is drawn. A keyed
    release that is identical to a recorded one is free. Where the data are known under another name, it
    warns. It warns as well (`UserWarning`) where the allocation itself was made from private data without a
    budget, as with `observed_strengths`: nobody may then claim an epsilon for what is passed on.

    Raises `DataError` (columns, counts and rows, never a value), `InputError`, `RandomSourceError`,
    `VerificationError` for an allocation that overspends, and `BudgetExceededError` where what is left
    is not enough; a bad table is not charged.
    """
    from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
    from budget_opt.randomizer.release import row_order_of
    from budget_opt.randomizer.table import TableInMemory
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
    if charge_to is not None:
        require(charge_to, Payer, "charge_to", _PAYER)
    verify_privacy(allocation).require()
    warn_where_outside(allocation)
    keyed = None if release is None else KeyedRows(release, row_id)
    order = row_order_of(row_order, allocation.row_order)
    fitting = TableInMemory(table, allocation, keyed)
    return (
        fitting.randomized(order) if charge_to is None else _paid(fitting, allocation, order, charge_to)
    ).table


def _paid(fitting: TableInMemory, allocation: Allocation, order: RowOrder, charge_to: Payer) -> Release:
    """A release of the table that is paid for."""

    def show(on_released: OnReleased) -> None:
        _show(fitting.randomized(order), on_released)

    bill = Bill(charge_to, allocation, show=show if fitting.keyed else None)
    bill.look(fitting.all_codes())
    with bill.settled():
        bill.reserve()
        bill.begin()
        made = fitting.randomized(order)
        _show(made, bill.released)
        bill.confirm()
    return made


def _show(release: Release, on_released: OnReleased) -> None:
    """Show the rows of a released table as those of a file are shown."""
    from budget_opt.tables.frames import FrameSource

    for batch in FrameSource(release.table).batches(release.columns):
        on_released(batch)


def warn_where_outside(allocation: Allocation) -> None:
    """A warning at the caller of the public verb."""
    said = release_warning(allocation.question)
    if said is not None:
        warnings.warn(said, UserWarning, stacklevel=3)


def randomize_file(
    source: str | Path,
    allocation: Allocation,
    target: str | Path,
    options: FileOptions | None = None,
    *,
    charge_to: Payer | None = None,
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

    With `charge_to` (see `Payer`) the data set of a ledger pays. The file is then read once before anything
    is drawn: faults cost nothing, and where the data are known under another name, it warns. From the first
    word on the charge stays, whatever fails. A keyed release that is identical to a recorded one is
    free. It warns where `randomize` warns.

    Raises `DataError` (the file, its columns, counts and rows, never a value), `InputError` (options; the
    target exists or cannot be written), `RandomSourceError`, `VerificationError` for an allocation
    that overspends, and `BudgetExceededError` where what is left is not enough. After any of them there is no
    new target.
    """
    require(allocation, Allocation, "allocation", _ORDER)
    warn_where_outside(allocation)
    return release_file(source, allocation, target, options, charge_to=charge_to)


def release_file(
    source: str | Path,
    allocation: Allocation,
    target: str | Path,
    options: FileOptions | None = None,
    *,
    charge_to: Payer | None = None,
) -> Release:
    """`randomize_file` for callers that tell people of the allocation themselves."""
    from budget_opt.randomizer.files import FileOptions, randomize_file, show_release
    from budget_opt.verifier.static import verify_privacy

    require(allocation, Allocation, "allocation", _ORDER)
    if options is not None:
        require(options, FileOptions, "options", "Write FileOptions(row_order=…, release=…, row_id=…).")
    if charge_to is not None:
        require(charge_to, Payer, "charge_to", _PAYER)
    verify_privacy(allocation).require()
    options, folder = options or FileOptions(), Path(target).parent
    if charge_to is None:
        return randomize_file(source, allocation, target, options)

    def show(on_released: OnReleased) -> None:
        alone = replace(options, on_released=on_released, on_batch=None, progress=None)
        show_release(source, allocation, folder, alone)

    bill = Bill(charge_to, allocation, show=None if options.release is None else show)
    with bill.settled():
        return randomize_file(source, allocation, target, bill.watching(options))
