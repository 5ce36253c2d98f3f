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
from budget_opt.randomizer.originals import Originals
from budget_opt.randomizer.persons import require_person_column
from budget_opt.randomizer.plan import plan_for
from budget_opt.randomizer.release import Release, RowOrder, row_order_of
from budget_opt.randomizer.row_names import require_row_id
from budget_opt.randomizer.sinks import HeldInOrder, InOrder, Shuffled, Sink
from budget_opt.randomizer.spool import Spool, damaged, unnamed_spool
from budget_opt.randomizer.words import SeededWords
from budget_opt.tables.encoding import Codes, label_type
from budget_opt.tables.public import released_type
from budget_opt.tables.reading import open_file
from budget_opt.tables.writing import TableWriter, open_writer

OnOriginals: TypeAlias = "Callable[[Mapping[str, Codes]], None]"
"""Takes the codes of the next rows of the original, by attribute."""

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
    - `on_originals`: internal, for ledgers: with it the whole table is read once before anything else is
      done, so that every fault is told, and it is shown the codes of all attributes, also of unreleased ones.
    - `before_words()`: called when the columns are known to fit, right before the first word is drawn;
      nothing but an empty hidden file is there.
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
    on_originals: OnOriginals | None = None
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
    originals = _fitting(source, allocation, options)
    if options.on_originals is not None:
        originals.look_through(allocation, options.on_originals)
    with open_writer(target, _schema(originals), overwrite=options.overwrite) as writer:
        if options.before_words is not None:
            options.before_words()
        with closing(drawing_for(originals.plan.blocks, words, options.keyed)) as drawing:
            work = _Work(originals, drawing, options)
            rows = _drawn(work, _Shown(writer, options.on_released), target.parent, order)
        if options.before_commit is not None:
            options.before_commit()
    return Release(target, originals.plan.columns, rows, order, private=words is None)


def show_release(source: str | Path, allocation: Allocation, folder: Path, options: FileOptions) -> None:
    """Compute a keyed release and show its rows to `options.on_released`, without a file of it.

    Rows that are to be shuffled wait in a file without a name in `folder`. Raises `ValueError` for a release
    of fresh words, which nobody would have, and else what `randomize_file` does.
    """
    if options.release is None:
        raise ValueError("only a keyed release can be shown and be made afterwards")
    originals = _fitting(source, allocation, options)
    with closing(drawing_for(originals.plan.blocks, None, options.keyed)) as drawing:
        order = row_order_of(options.row_order, allocation.row_order)
        _drawn(_Work(originals, drawing, options), _Shown(None, options.on_released), folder, order)


def _fitting(source: str | Path, allocation: Allocation, options: FileOptions) -> Originals:
    """The table, and what becomes of its columns; `DataError` where they do not fit."""
    table = open_file(source)
    plan = plan_for(table, allocation, include_empty=options.include_empty)
    if options.row_id is not None:
        require_row_id(options.row_id, table.names, allocation)
    require_person_column(plan.unit, table.names)
    return Originals(table, plan, options.keyed)


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

    originals: Originals
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
        yield InOrder(work.originals.plan, writer), 0
        return
    held = HeldRows(work.originals.plan, work.originals.table.schema, with_keys=shuffled)
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
    """Read, encode and randomize every batch but those that are done; the number of rows."""
    originals, drawing, options = work
    rows = done
    for part in originals.parts(done):
        rows = part.until
        if not part.faulty:
            released = drawing.reports(part.codes, part.names)
            length = sink.add(released, part.batch.select(list(originals.plan.public)), part.names)
            if options.on_batch is not None:
                options.on_batch(part.codes, released)
            if options.checkpoints is not None and length is not None:
                options.checkpoints.save(rows, length)
        if options.progress is not None:
            options.progress(rows, originals.table.share())
    return rows


def _written(progress: Progress | None, rows: int) -> Callable[[int], None]:
    """Tells the progress of writing rows that were held."""
    return lambda written: None if progress is None else progress(written, written / rows)


def _schema(originals: Originals) -> pa.Schema:
    """Names and types of the released columns: from the domains, and for public columns from the table."""
    table, plan, _ = originals

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
