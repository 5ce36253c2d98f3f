"""A release that goes on where it was stopped: the same bytes as if nothing had happened (DESIGN 2.8, 3.3).

Keyed words by position: the same cell has the same report in every run. Everything is made in a hidden
folder beside the target; table, allocation and manifest get their places when all three are whole.

The original is known again by path, size and times of change. Where a ledger pays it is read through first in
every run, and its cells must be those of the first one, in their order: words are known by position, so that
rows which changed places would get a second report of the same people. Without a ledger it is not read to be
compared: a change that keeps size and times is not noticed, and who makes one has a second release.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.charging.charging import Bill, Payer, in_turn, new_name
from budget_opt.api.releasing.completed import completed, published_before, said_of_report
from budget_opt.api.releasing.publishing import (
    ALLOCATION,
    MANIFEST,
    VERIFICATION,
    Place,
    Published,
    Watch,
    all_or_nothing,
    digest_of,
    manifest_beside,
    require_nameable,
    require_place_inside,
    require_vacant,
)
from budget_opt.api.releasing.releasing import release_file
from budget_opt.errors import DataError, InputError, VerificationError
from budget_opt.model.documents import json_text, write_document, write_text
from budget_opt.version import __version__

if TYPE_CHECKING:
    from budget_opt.randomizer.release import RowOrder
    from budget_opt.randomizer.resuming.journal import Circumstances, Journal
    from budget_opt.randomizer.resuming.places import Places
    from budget_opt.randomizer.resuming.unfinished import Unfinished

_DELETED = "Deleted bytes may survive on solid-state disks, in snapshots and in backups."


@dataclass(frozen=True)
class Request:
    """What is to be released where, and how; `tell` takes lines for people as it goes."""

    allocation: Allocation
    data: Path
    place: Place
    tell: Callable[[str], None]
    row_order: Literal["shuffle", "public"] | None = None
    progress: Callable[[int, float], None] | None = None
    charge_to: Payer | None = None

    @cached_property
    def text(self) -> str:
        """The allocation as it goes out: what is checked, not the bytes of a file that may be edited."""
        return json_text(self.allocation.to_dict())


def publish_resumable(request: Request) -> Published:
    """Do what `publish` does, so that after a kill at any moment the same call goes on.

    Its key is kept in the state directory (see `randomizer.resuming.places`) until the release is whole.
    Raises what `publish` raises, and `InputError` where the state directory cannot be used, another
    process works on this release, or it was begun with other data, another allocation or order of rows.
    Faulty cells, columns that do not fit and a failed verification drop the unfinished release, as its
    input must change. Any other interruption keeps it. It is charged once, by whichever run comes first, and
    to go on it must be charged to the same data set of the same ledger.
    """
    from budget_opt.randomizer.files import require_another_file
    from budget_opt.randomizer.resuming.lock import locked
    from budget_opt.randomizer.resuming.places import places_of
    from budget_opt.randomizer.resuming.unfinished import clear_remains, journal_of, open_unfinished
    from budget_opt.tables.private_files import private_folder

    require_nameable(request.place.table)
    # later it would be told of by its hidden name
    require_another_file(request.data, request.place.table)
    if request.charge_to is not None:
        request.charge_to.require_outside(request.place.table.parent)
    places = places_of(request.place.table)
    private_folder(places.root)
    with locked(places.lock, str(request.place.table)):
        clear_remains(places)
        journal = journal_of(places)
        complete = _complete(request, journal, places)
        if complete is not None:
            return complete
        _require_room(request, journal, places)
        name = None if request.charge_to is None else new_name()
        unfinished = open_unfinished(places, _circumstances(request, journal, places), name)
        if unfinished.journal.stage == "placed":
            published = _placed_before(request.place, unfinished)
        else:
            request.tell(_beginning(unfinished))
            bill = _bill(request, unfinished, resumed=journal is not None)
            with _kept_or_dropped(unfinished, bill, request.tell):
                published = _released(request, unfinished, bill)
        unfinished.finish()
    request.tell(f"note: the key, the journal and the waiting rows of this release are deleted. {_DELETED}")
    return published


def abandon_release(table: Path) -> str:
    """Delete key, journal and waiting rows of the unfinished release to `table`; what was done, in words.

    Works whatever became of the original, the allocation and the journal. Raises `InputError` where
    another process works on the release, or something cannot be deleted.
    """
    from budget_opt.randomizer.resuming.lock import locked
    from budget_opt.randomizer.resuming.places import places_of
    from budget_opt.randomizer.resuming.unfinished import abandon, is_begun
    from budget_opt.tables.private_files import private_folder

    places = places_of(table)
    if not is_begun(places):
        return f"nothing to abandon for {places.target}: {places.root} has no unfinished release of this path"
    private_folder(places.root)
    with locked(places.lock, str(table)):
        journal = abandon(places)
    said = f"deleted: the key, the journal and the waiting rows of the unfinished release {table}. {_DELETED}"
    if journal is not None and journal.charge is not None:
        said += f"\nWhat {journal.circumstances.dataset!r} paid for it in its ledger stays spent."
    if journal is not None and journal.stage == "placed":
        return f"{said}\n{table} was whole already, with its manifest, and stays: it counts as released."
    if not os.path.lexists(table):
        return f"{said}\nNothing of it was released."
    if _is_named(table):
        return f"{said}\n{table} is there with a manifest that names it, and stays: it counts as released."
    return f"{said}\n{table} is there all the same, and no manifest names it: see what it is, or delete it."


def _is_named(table: Path) -> bool:
    """Whether the manifest beside a table is there, can be read, and is of this table."""
    with suppress(InputError):
        return manifest_beside(table) is not None
    return False


def _complete(request: Request, journal: Journal | None, places: Places) -> Published | None:
    """The release where it is complete and nothing of it is unfinished, so that a loop of runs ends."""
    from budget_opt.randomizer.resuming.unfinished import abandon, has_state

    if journal is not None or os.path.lexists(places.workplace):
        return None
    require_place_inside(request.place, may_exist=lambda report: True)
    complete = completed(request.place, request.text, _row_order(request))
    if complete is not None:
        if has_state(places):  # given up before this one was made, and not deleted to the end
            abandon(places)
        if request.charge_to is not None:
            _require_counted(request.charge_to, request.place.table)
        said = said_of_report(request.place, request.text)
        request.tell(
            f"note: {request.place.table} is complete already (its manifest agrees); nothing was drawn{said}"
        )
    return complete


def _require_counted(payer: Payer, table: Path) -> None:
    """`InputError` where the data set has not paid for a release that is complete."""
    (known,) = payer.ledger.check([table.with_name(MANIFEST)], payer.dataset)
    if not known.holds:
        raise InputError(
            f"{table}: is complete already, and {payer.dataset!r} has not paid for it in this ledger "
            f"({known.said}). Nothing was drawn or charged now. Count it: budget-opt ledger record."
        )


def _require_room(request: Request, journal: Journal | None, places: Places) -> None:
    """`InputError` where the release would take the place of something that is not its own."""
    from budget_opt.tables.whole_files import require_free

    folder, table = request.place.table.parent, request.place.table
    recorded = None if journal is None else journal.report
    require_place_inside(request.place, may_exist=lambda report: str(report.resolve()) == recorded)
    if journal is None or journal.stage in ("randomizing", "writing"):
        require_vacant(folder, request.text, own=request.place.table.parent / places.workplace.name)
        if folder.exists():
            require_free(table, overwrite=False)


def _row_order(request: Request) -> RowOrder:
    from budget_opt.randomizer.release import row_order_of

    return row_order_of(request.row_order, request.allocation.row_order)


def _circumstances(request: Request, journal: Journal | None, places: Places) -> Circumstances:
    """What this run was asked for; of an original that has been released already nothing is asked."""
    from budget_opt.randomizer.resuming.journal import Circumstances
    from budget_opt.randomizer.resuming.marks import mark_of

    payer = request.charge_to
    if journal is not None and journal.stage == "placed":
        source = journal.circumstances.source
    else:
        source = mark_of(request.data)
    return Circumstances(
        target=str(places.target),
        source=source,
        allocation_sha256=digest_of(request.text),
        row_order=_row_order(request),
        software=f"budget-opt {__version__}",
        ledger=None if payer is None else payer.ledger.id,
        dataset=None if payer is None else payer.dataset,
    )


def _beginning(unfinished: Unfinished) -> str:
    places, rows = unfinished.places, unfinished.journal.rows
    if rows and unfinished.journal.stage != "randomizing":
        return f"note: all rows are randomized ({rows:,} wait on the disk); they are written anew"
    if rows:
        return f"note: going on after {rows:,} rows that are done"
    return (
        f"note: until this release is whole its key is kept in {places.state}, which nobody else may read, "
        f"and its randomized rows wait in {places.workplace}; do not pass either on"
    )


def _bill(request: Request, unfinished: Unfinished, *, resumed: bool) -> Bill | None:
    if request.charge_to is None:
        return None
    return Bill(request.charge_to, request.allocation, name=unfinished.journal.charge, resumed=resumed)


def _released(request: Request, unfinished: Unfinished, bill: Bill | None) -> Published:
    """Randomize the rows that are not done, and put table, allocation and manifest in their places."""
    from budget_opt.randomizer.files import FileOptions
    from budget_opt.randomizer.manifest import manifest
    from budget_opt.randomizer.resuming.codes_digest import CodesDigest
    from budget_opt.randomizer.resuming.placing import Placement, place_all
    from budget_opt.randomizer.resuming.replay import replay

    places, place, digest = unfinished.places, request.place, digest_of(request.text)
    watch, cells = _watch(request, unfinished), CodesDigest(unfinished.release)
    options = FileOptions(
        row_order=request.row_order,
        overwrite=True,
        progress=request.progress,
        on_batch=None if watch is None else watch.judge.add,
        before_words=None if bill is None else lambda: unfinished.begin_drawing(cells.hexdigest()),
        before_commit=None if watch is None else watch.verify,
        release=unfinished.release,
        checkpoints=unfinished,
    )
    if bill is not None:
        options = bill.watching(options)
        # the marks of the data are made once; a later run reads them to see that they are the same
        marked = None if unfinished.journal.drawing else options.on_originals
        options = replace(options, on_originals=in_turn(marked, cells.add))
    with all_or_nothing(place.internal):
        if options.on_batch is not None:
            done = unfinished.journal.rows
            replay(request.data, request.allocation, unfinished.release, done, options.on_batch)
        made = release_file(request.data, request.allocation, places.made, options)
    release = replace(made, table=place.table)
    document = manifest(release, digest, number=1 if bill is None else bill.number)
    write_text(request.text, places.workplace / ALLOCATION)
    write_document(document, places.workplace / MANIFEST)
    unfinished.enter("placing")
    # the manifest last: it is the claim to the folder
    names = (place.table.name, ALLOCATION, MANIFEST)
    place_all([Placement(places.workplace / name, places.target.with_name(name)) for name in names])
    unfinished.enter("placed")
    report, charged = None if watch is None else watch.report, None if bill is None else bill.receipt()
    return Published(release, document, place.table.parent, report, place.internal, charged)


def _watch(request: Request, unfinished: Unfinished) -> Watch | None:
    place = request.place
    if place.internal is None:
        return None
    digest = digest_of(request.text)
    return Watch(
        request.allocation, request.data, place.table.name, digest, place.internal, unfinished.reporting
    )


def _placed_before(place: Place, unfinished: Unfinished) -> Published:
    """What an earlier run released, which was killed before it had cleaned up."""
    if place.internal is not None and not unfinished.reports_to(place.internal / VERIFICATION):
        raise InputError(
            f"--internal {place.internal}: the release is whole already, and was not verified into this "
            "folder while it was made. Run the command as it was then; only traces have to be cleared away."
        )
    return published_before(place.table)


@contextmanager
def _kept_or_dropped(
    unfinished: Unfinished, bill: Bill | None, tell: Callable[[str], None]
) -> Iterator[None]:
    """After a failure drop the unfinished release where its input must change, else keep it; say which."""
    try:
        yield
    except BaseException as failure:
        if _is_final(failure, unfinished):
            unfinished.drop()
            tell(f"note: the unfinished release is dropped, and its key and rows are deleted. {_DELETED}")
            if bill is not None:
                bill.settle(failure)
        else:
            unfinished.close()
            tell(_how_to_go_on(unfinished))
        raise


def _is_final(failure: BaseException, unfinished: Unfinished) -> bool:
    """Whether no row was drawn yet, or the input must change before a release is possible.

    A table that could be read up to a checkpoint, and then fails without a fault in a column or row, may
    be out of reach for a moment only.
    """
    if isinstance(failure, DataError):
        return not unfinished.journal.rows or failure.column is not None or bool(failure.rows)
    return isinstance(failure, VerificationError) or not unfinished.has_rows


def _how_to_go_on(unfinished: Unfinished) -> str:
    places, rows = unfinished.places, unfinished.journal.rows
    return (
        f"note: {places.target} is unfinished, and the {rows:,} rows that are done are kept. Run the same "
        "command again to go on (where a disk is full make room first), or with --abandon instead of "
        f"--resume to delete its key in {places.state} and its rows in {places.workplace}. "
        "Do not pass either on"
    )
