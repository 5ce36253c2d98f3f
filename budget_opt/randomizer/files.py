"""Randomizing a file into a file, batch by batch, in little memory whatever its size."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.randomizer.drawing import Drawing, drawing_for
from budget_opt.randomizer.held import HeldRows
from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
from budget_opt.randomizer.persons import person_ids, require_few, require_person_column
from budget_opt.randomizer.plan import Plan, plan_for
from budget_opt.randomizer.release import Release, RowOrder, row_order_of
from budget_opt.randomizer.row_names import Ids, RowIds, RowNames, positions, require_row_id
from budget_opt.randomizer.sinks import HeldInOrder, InOrder, Shuffled, Sink
from budget_opt.randomizer.spool import Spool, damaged, unnamed_spool
from budget_opt.randomizer.unique_names import require_unique
from budget_opt.randomizer.words import SeededWords
from budget_opt.tables.encoding import Codes, label_type
from budget_opt.tables.findings import Findings
from budget_opt.tables.public import released_type
from budget_opt.tables.reading import encoded, encoders_for, numbered, open_file, place_in
from budget_opt.tables.source import FileSource
from budget_opt.tables.writing import TableWriter, open_writer

OnBatch: TypeAlias = "Callable[[Mapping[str, Codes], Mapping[str, Codes]], None]"
"""Takes the codes of the original and those of the release, by attribute, for the next rows, unshuffled.

Internal: the pairs are outside the guarantee and must not leave the house (DESIGN 3.3).
"""

Progress: TypeAlias = "Callable[[int, float], None]"
"""Takes a number of rows, and which share of the work that is (0 to 1).

First the rows that were read and randomized; then, where rows are held until all are there, from a lower
number on again the rows that were written.
"""

OnReleased: TypeAlias = "Callable[[pa.RecordBatch], None]"
"""Takes the next rows of the release, as they go into the file and in their order there."""


class SavedSpool(NamedTuple):
    """A spool as its last checkpoint left it: of `file` only the first `length` bytes count.

    They hold the first `rows` rows of the original, randomized; both are 0 for a new release. The file
    is open for reading and writing, unbuffered, and is closed by whoever opened it.
    """

    file: io.FileIO
    length: int
    rows: int


class Checkpoints(Protocol):
    """What a release that can be resumed leaves behind, in a place that survives the process.

    It needs a keyed release that names rows by position, so that the rows that are drawn after a kill are
    those of an undisturbed run.
    """

    def open_spool(self) -> SavedSpool:
        """The file of the rows that are done; called once. Its blocks say themselves what they are."""

    def save(self, rows: int, length: int) -> None:
        """The first `rows` rows of the original are in the first `length` bytes of the spool.

        Called from time to time, in the order of the rows; the bytes have been handed to the system but
        may not be on the disk.
        """

    def all_randomized(self) -> None:
        """Every row has been read and randomized, without a fault; from now on they are written."""


@dataclass(frozen=True)
class FileOptions:
    """How a file is released: see `randomize_file`.

    - `row_order`: "shuffle", or "public", which keeps the order of the original, where that reveals
      nothing; None for what the allocation says.
    - `include_empty`: also release the attributes without a sampler (epsilon 0), as columns of pure noise.
    - `overwrite`: the target may exist; it is replaced when the new one is whole.
    - `progress(rows, share)`: called after every batch with a number of rows, and which share of the work
      that is (0 to 1). First these are the rows that were read and randomized; then, where rows wait until
      all are there, the rows that were written, from a lower number on again.
    - `release`: a `KeyedRelease`, from whose key every word is drawn; None for fresh words.
    - `row_id`: the column of integers or text that names the rows of a keyed release, listed under dropped
      or public in the problem; None names them by position. It is released only where it is public.
    - `before_words()`: called when the columns are known to fit, before the first word is drawn and before
      there is any new file.
    - `on_released(batch)`: shown the released rows, in batches and in the order in which they are written.
    - `before_commit()`: called when all rows are written, before the target is there.
    - `on_batch`: internal, for checks: it is shown the originals beside the reports (see `OnBatch`).
    - `checkpoints`: for `budget-opt randomize --resume`, which keeps what they need. Rows that are done
      are skipped, by `on_batch` and `progress` too.

    What any of these calls raises stops the release. Raises `InputError` for another
    `row_order`, for a `row_id` without a `release`, and for `checkpoints` without one or with ids.
    """

    row_order: str | None = None
    include_empty: bool = False
    overwrite: bool = False
    progress: Progress | None = None
    on_batch: OnBatch | None = None
    before_words: Callable[[], None] | None = None
    on_released: OnReleased | None = None
    before_commit: Callable[[], None] | None = None
    release: KeyedRelease | None = None
    row_id: str | None = None
    checkpoints: Checkpoints | None = None

    def __post_init__(self) -> None:
        row_order_of(self.row_order, "shuffle")
        if self.row_id is not None and self.release is None:
            raise InputError("row_id: names rows for a keyed release, and there is none. Give a release too.")
        if self.checkpoints is not None and (self.release is None or self.row_id is not None):
            raise InputError("checkpoints: need a keyed release that names rows by position (no row_id).")

    @property
    def keyed(self) -> KeyedRows | None:
        """The keyed release and what names its rows, None for a release of fresh words."""
        return None if self.release is None else KeyedRows(self.release, self.row_id)


def randomize_file(
    source: str | Path,
    allocation: Allocation,
    target: str | Path,
    options: FileOptions | None = None,
    *,
    words: SeededWords | None = None,
) -> Release:
    """Randomize a .csv, .csv.gz or .parquet file, or a folder of Parquet files, into another.

    The target is there only when it is whole. With `row_order` "public" (else the allocation's) the rows
    are written as they are read; otherwise the reports and the public columns, never an original, wait on
    disk, beside the target in a file without a name, until all are read, and are shuffled. `overwrite`
    allows the target to exist, `include_empty` also releases the attributes without a sampler, as pure
    noise. What the calls of the options raise stops the release. `words` are for tests:
    what they release is marked as not private.

    Raises `DataError` (columns without a budget or absent; cells outside their domains, all of the
    file at once; ids of rows that are missing or not unique; persons with more records than the problem
    allows, see `persons`; a broken file), `InputError` (row_order; the
    target exists or cannot be written) and `RandomSourceError`. After any of them there is no target.
    """
    options, target = options or FileOptions(), Path(target)
    order = row_order_of(options.row_order, allocation.row_order)
    require_another_file(Path(source), target)
    table, plan = _fitting(source, allocation, options)
    if options.before_words is not None:
        options.before_words()
    with closing(drawing_for(plan.randomized, words, options.keyed)) as drawing:
        work = _Work(table, plan, drawing, options)
        with open_writer(target, _schema(table, plan), overwrite=options.overwrite) as writer:
            rows = _drawn(work, _Shown(writer, options.on_released), target.parent, order)
            if options.before_commit is not None:
                options.before_commit()
    return Release(target, plan.columns, rows, order, private=words is None)


def show_release(source: str | Path, allocation: Allocation, folder: Path, options: FileOptions) -> None:
    """Compute a keyed release and show its rows to `options.on_released`, without a file of it.

    Rows that are to be shuffled wait in a file without a name in `folder`. Raises `ValueError` for a release
    of fresh words, which nobody would have, and else what `randomize_file` does.
    """
    if options.release is None:
        raise ValueError("only a keyed release can be shown and be made afterwards")
    table, plan = _fitting(source, allocation, options)
    with closing(drawing_for(plan.randomized, None, options.keyed)) as drawing:
        order = row_order_of(options.row_order, allocation.row_order)
        _drawn(_Work(table, plan, drawing, options), _Shown(None, options.on_released), folder, order)


def _fitting(source: str | Path, allocation: Allocation, options: FileOptions) -> tuple[FileSource, Plan]:
    """The table, and what becomes of its columns; `DataError` where they do not fit."""
    table = open_file(source)
    plan = plan_for(table, allocation, include_empty=options.include_empty)
    if options.row_id is not None:
        require_row_id(options.row_id, table.names, allocation)
    require_person_column(plan.unit, table.names)
    return table, plan


class _Shown(NamedTuple):
    """Writes what is released, where there is a writer, and shows it to whoever wants to see it."""

    writer: TableWriter | None
    on_released: OnReleased | None

    def write(self, batch: pa.RecordBatch) -> None:
        """The next rows."""
        if self.on_released is not None:
            self.on_released(batch)
        if self.writer is not None:
            self.writer.write(batch)


class _Work(NamedTuple):
    """What is released, and how."""

    table: FileSource
    plan: Plan
    drawing: Drawing
    options: FileOptions


def _drawn(work: _Work, writer: TableWriter, folder: Path, order: RowOrder) -> int:
    """Read the table and hand over its release; the number of rows."""
    options = work.options
    with _sink(work, writer, folder, shuffled=order == "shuffle") as (sink, done):
        rows = _pass(work, sink, done)
        if options.checkpoints is not None:
            options.checkpoints.all_randomized()
        sink.finish(_written(options.progress, rows))
    return rows


@contextmanager
def _sink(work: _Work, writer: TableWriter, folder: Path, *, shuffled: bool) -> Iterator[tuple[Sink, int]]:
    """Where the rows go, and how many are there already."""
    checkpoints = work.options.checkpoints
    if checkpoints is None and not shuffled:
        yield InOrder(work.plan, writer), 0
        return
    held = HeldRows(work.plan, work.table.schema, with_keys=shuffled)
    new_spool = functools.partial(unnamed_spool, folder=folder)
    opened = new_spool(held.schema) if checkpoints is None else nullcontext(_saved(checkpoints, held.schema))
    with opened as spool:
        done = spool.rows
        if shuffled:
            yield Shuffled(held, writer, work.drawing, spool, new_spool), done
        else:
            yield HeldInOrder(held, writer, spool), done


def _saved(checkpoints: Checkpoints, schema: pa.Schema) -> Spool:
    saved = checkpoints.open_spool()
    spool = Spool(saved.file, schema, str(saved.file.name), length=saved.length, kept=True)
    if spool.rows != saved.rows:
        raise damaged(str(saved.file.name))
    return spool


def _pass(work: _Work, sink: Sink, done: int) -> int:
    """Read, encode and randomize every batch but those that are done; the number of rows.

    After the first faulty cell the rest is only looked at, so that all faults are told.
    """
    table, plan, drawing, options = work
    encoders, findings, rows, ids = encoders_for(table, plan.domains), Findings(), done, _ids(options)
    persons = person_ids(plan.unit)
    beside = [one.column_name for one in (ids, persons) if one is not None]
    columns = list(dict.fromkeys((*plan.columns, *beside)))
    for first_row, batch in numbered(table.batches(columns, skip=done), done):
        codes = encoded(batch, encoders, findings, first_row)
        names = _names(ids, findings, first_row, batch)
        if persons is not None:
            with findings.collecting(persons.column_name):
                persons.check(findings, batch.column(persons.column_name), first_row)
        rows += batch.num_rows
        if not findings:
            released = drawing.reports(codes, names)
            length = sink.add(released, batch.select(list(plan.public)), names)
            if options.on_batch is not None:
                options.on_batch(codes, released)
            if options.checkpoints is not None and length is not None:
                options.checkpoints.save(rows, length)
        if options.progress is not None:
            options.progress(rows, table.share())
    findings.require_none(table.title, place_in(table))
    if ids is not None:
        require_unique(lambda: _all_names(table, ids), ids.column_name)
    if persons is not None:
        require_few(lambda: _all_names(table, persons), plan.unit)
    return rows


def _ids(options: FileOptions) -> RowIds | None:
    if options.release is None or options.row_id is None:
        return None
    return RowIds(options.release, options.row_id)


def _names(ids: RowIds | None, findings: Findings, first_row: int, batch: pa.RecordBatch) -> RowNames:
    if ids is not None:
        with findings.collecting(ids.column_name):
            return ids.names(findings, batch.column(ids.column_name), first_row)
    return positions(first_row, batch.num_rows)


def _all_names(table: FileSource, ids: Ids) -> Iterator[tuple[int, RowNames]]:
    """The names of all rows of a table in which none is missing."""
    for first_row, batch in numbered(table.batches([ids.column_name])):
        yield first_row, ids.names(Findings(), batch.column(0), first_row)


def _written(progress: Progress | None, rows: int) -> Callable[[int], None]:
    """Tells the progress of writing rows that were held."""
    return lambda written: None if progress is None else progress(written, written / rows)


def _schema(table: FileSource, plan: Plan) -> pa.Schema:
    """Names and types of the released columns: from the domains, and for public columns from the table."""

    def released(name: str) -> pa.DataType:
        if name in plan.domains:
            return label_type(plan.domains[name])
        return released_type(table.schema.field(name).type)

    return pa.schema([(name, released(name)) for name in plan.columns])


def require_another_file(source: Path, target: Path) -> None:
    """`InputError` where the target is the original itself, or lies in its folder."""
    if target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"{target}: is the original itself. Choose another name for the release.")
    if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
        raise InputError(f"{target}: lies in the folder of the original. Choose another folder.")
