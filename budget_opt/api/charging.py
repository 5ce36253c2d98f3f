"""How a release is charged: reserved before its first word, confirmed before it is there (R17 to R25).

The order is reserve, draw, verify, confirm, place. So whatever has got its place is confirmed in the
ledger, with the digest of its cells and the marks of its data; and a kill at any moment leaves a charge
that is spent, whether or not there is a release for it. What is spent is never below what was released.

**When a charge is taken back** (R10 against R7 and R23). A reservation is voided only where no report of it
is in a file with a name, or was in one that outlived this process: then nobody can have two noisy copies of
a record, and the next release is the first one. That is so

- where it failed before any report was drawn; only a random source that fails keeps its charge (R7);
- where bad input was found while reading: columns, cells, or the file itself. The reports until then were in
  memory, and in files without a name, which end with the process. Where the system has no such files they
  were in a hidden one, which was deleted; while one is in the folder the charge stays.

It also stays where a hook of the caller's was shown reports (`FileOptions.on_batch`, `on_released`), and
where rows waited on the disk between two runs (`--resume`), since a backup may have them; and after
everything else: a failed verification (to draw until the result pleases is what a budget forbids), a full
disk, Ctrl-C, a kill.

**What is free.** A release whose cells are identical to those of a recorded one of the same data set tells
nobody anything new. Fresh words never give one; the same `KeyedRelease` of the same table does. Where there
is room it is reserved like any other, and voided when its cells turn out to be recorded. Where there is
none it is first computed into its digest alone, and refused unless that is recorded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require
from budget_opt.api.pilot_charges import pay_for_making
from budget_opt.errors import BudgetExceededError, BudgetOptError, DataError, InputError, RandomSourceError
from budget_opt.ledger.amounts import plain
from budget_opt.ledger.charge import Charge
from budget_opt.ledger.ledger import Ledger
from budget_opt.tables.cell_digest import CellDigest
from budget_opt.tables.whole_files import parts_in

if TYPE_CHECKING:
    import pyarrow as pa

    from budget_opt.randomizer.files import FileOptions
    from budget_opt.tables.encoding import Codes
    from budget_opt.tables.fingerprints import Fingerprint, Fingerprinter, Likeness

Show: TypeAlias = "Callable[[Callable[[pa.RecordBatch], None]], None]"
"""Computes a keyed release and shows its rows to a function, in the order in which they would be written."""

CELLS, DATA = "cells of a release", "data of a release"
"""The purposes of the keyed hashes."""


def _warn(line: str) -> None:
    warnings.warn(line, UserWarning, stacklevel=2)


class Payer:
    """Who pays for a release: a data set that is registered in a ledger.

        bo.randomize(table, allocation, charge_to=bo.Payer("health survey", ledger))

    Without a `ledger` it is the default one, in the user's state directory. `ahead` lets a release take from
    the waves that are still to come (see `Caps`). `tell` takes lines for people: that a charge stays after a
    failure, that the same data are known under another name; by default they are Python warnings. Raises
    `InputError` and `LedgerError` as `Ledger.open` does.
    """

    def __init__(
        self,
        dataset: str,
        ledger: Ledger | None = None,
        *,
        ahead: bool = False,
        tell: Callable[[str], None] = _warn,
    ) -> None:
        self.dataset, self.ahead, self.tell = dataset, ahead, tell
        if ledger is not None:
            require(ledger, Ledger, "ledger", "Open one with Ledger.open(path).")
        self.ledger = Ledger.open(Ledger.default_path()) if ledger is None else ledger

    def reserve(self, allocation: Allocation, name: str) -> int:
        """Charge a release that is made elsewhere, before its first word is drawn; which release it is.

        `name` stands for this release: the same once more is charged once, as when a job is run again. From
        here on it is spent, whatever becomes of it. Raises `BudgetExceededError` where not enough is left.
        """
        return self.ledger.reserve(self.dataset, Charge.of(allocation), name, ahead=self.ahead).number

    def confirm(self, allocation: Allocation, name: str, released: Any) -> int:
        """Record that it is there: `released` is the table, or its path; which release it is."""
        from budget_opt.tables.reading import open_table

        table = open_table(released)
        domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
        cells = CellDigest(domains, self.ledger.keyed(CELLS).copy, text=table.text)
        for batch in table.batches(table.names):
            cells.add(batch)
        digest = Charge.of(allocation).allocation_sha256
        confirmed = self.ledger.confirm(
            name, cells=cells.hexdigest(), rows=cells.rows, allocation_sha256=digest
        )
        return confirmed.number

    def require_outside(self, folder: Path) -> None:
        """`InputError` where the ledger lies in a folder that is passed on."""
        ledger = self.ledger.path
        if any(path.is_relative_to(folder.resolve()) for path in (ledger.resolve(), ledger)):
            raise InputError(
                f"{ledger}: the ledger lies in the folder of the release, {folder}, which is passed on. "
                "Release into a folder of its own."
            )


class Bill:
    """One release and its charge: `reserve`, let it see what is read and released, then `confirm`.

    `name` is the release's in the ledger, a fresh one unless it is given. `show` computes the release, where
    it is keyed. `number` says which release of the data set it is, once it is reserved.
    """

    def __init__(
        self, payer: Payer, allocation: Allocation, *, name: str | None = None, show: Show | None = None
    ) -> None:
        self._payer, self._show = payer, show
        self._charge, self._question = Charge.of(allocation), allocation.question
        self._domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
        self.name = new_name() if name is None else name
        self.number = 0
        self._reserved = self._confirmed = self._drawn = False
        self._repeated: str | None = None
        self._cells = self._new_cells()
        self._marks: Fingerprinter | None = None

    def reserve(self) -> None:
        """Charge the release, once however often this is called for its name.

        Raises `BudgetExceededError` where there is no room and it repeats no recorded release; `InputError`
        and `LedgerError` where the ledger does not know the data set or cannot be used.
        """
        ledger, dataset = self._payer.ledger, self._payer.dataset
        try:
            pay_for_making(self._payer, self._question)
            reserved = ledger.reserve(dataset, self._charge, self.name, ahead=self._payer.ahead)
            self.number = reserved.number
            self._reserved = True
        except BudgetExceededError:
            if self._show is None:
                raise
            cells = self._new_cells()
            self._show(cells.add)
            number = ledger.recorded(dataset, cells.hexdigest())
            if number is None:
                raise
            self.number, self._repeated = number, cells.hexdigest()

    def read(self, codes: Mapping[str, Codes], reports: Mapping[str, Codes] | None = None) -> None:
        """Take the codes of the next rows of the originals, and notice whether they have been reported."""
        from budget_opt.tables.fingerprints import Fingerprinter

        self._drawn |= reports is not None
        if self._marks is None:
            domains = {name: self._domains[name] for name in codes}
            self._marks = Fingerprinter(domains, self._payer.ledger.keyed(DATA).copy)
        self._marks.add(codes)

    def released(self, batch: pa.RecordBatch) -> None:
        """Take the next released rows, in their order."""
        self._cells.add(batch)

    def confirm(self) -> None:
        """Record the release, which is whole and has not got its place; a repetition becomes free."""
        ledger, dataset, cells = self._payer.ledger, self._payer.dataset, self._cells.hexdigest()
        if self._show is not None and (number := ledger.recorded(dataset, cells)) is not None:
            if self._reserved:
                ledger.void(self.name, why=f"its cells are those of release {number}")
                self._reserved = False
            self.number, self._repeated = ledger.repeat(dataset, cells=cells, rows=self._cells.rows), cells
            return
        if not self._reserved:
            raise InputError(
                f"{dataset}: the data were changed while they were read, so this repeats no recorded "
                "release. Let nobody write to them, and run it again."
            )
        self._remember_data()
        allocation = self._charge.allocation_sha256
        ledger.confirm(self.name, cells=cells, rows=self._cells.rows, allocation_sha256=allocation)
        self._reserved, self._confirmed = False, True

    def watching(self, options: FileOptions) -> FileOptions:
        """The options with this bill's calls: it reserves first of all, and confirms last of all."""
        return replace(
            options,
            before_words=_in_turn(self.reserve, options.before_words),
            on_batch=_in_turn(self.read, options.on_batch),
            on_released=_in_turn(self.released, options.on_released),
            before_commit=_in_turn(options.before_commit, self.confirm),
        )

    @contextmanager
    def settled(self, folder: Path, *, shown: bool = False) -> Iterator[None]:
        """After a failure in the block `settle` the charge.

        `folder` is that of the release; `shown` says that a hook of the caller's was shown the reports.
        """
        try:
            yield
        except BaseException as failure:
            self.settle(failure, may_be_seen=shown or _has_parts(folder))
            raise

    def settle(self, failure: BaseException, *, may_be_seen: bool) -> None:
        """Take the charge back after this failure where that is safe, else say that it stays.

        `may_be_seen` says that reports may be in a file, or were shown.
        """
        if self._confirmed or (self._reserved and (may_be_seen or isinstance(failure, RandomSourceError))):
            self._keep()
        elif self._reserved and not self._drawn:
            self._void("it failed before any report was drawn")
        elif self._reserved and isinstance(failure, DataError):
            self._void("the input is faulty, and no report is in any file")
        elif self._reserved:
            self._keep()

    def receipt(self) -> str:
        """What it cost and what is left, in words, once it is confirmed."""
        if self._repeated is not None:
            return f"free: its cells are those of release {self.number} of {self._payer.dataset!r}"
        left = self._payer.ledger.left(self._payer.dataset, ahead=self._payer.ahead)
        return f"charged: {self}; what is left of the total for the next release: {left.total:g}"

    def __str__(self) -> str:
        spent = plain(self._charge.epsilon)
        return f"epsilon {spent} a record to {self._payer.dataset!r}, its release {self.number}"

    def _keep(self) -> None:
        self._payer.tell(f"note: the charge stays ({self})")

    def _void(self, why: str) -> None:
        """Take the charge back; where the ledger cannot be written it stays."""
        try:
            self._payer.ledger.void(self.name, why=why)
        except BudgetOptError:
            self._keep()
            return
        self._reserved = False
        self._payer.tell(f"note: nothing is charged to {self._payer.dataset!r}: {why}")

    def _new_cells(self) -> CellDigest:
        return CellDigest(self._domains, self._payer.ledger.keyed(CELLS).copy)

    def _remember_data(self) -> None:
        """Record the marks of the data; say where another data set of the ledger has such."""
        if self._marks is None:
            return
        ledger, dataset, marks = self._payer.ledger, self._payer.dataset, self._marks.fingerprint()
        for other, likeness in likenesses(ledger, dataset, marks).items():
            said = f"its data {likeness} data that {other!r} paid for"
            self._payer.tell(
                f"warning: {dataset!r}: {said}, as far as keyed marks tell. If the people are the same, they "
                "have one budget: charge every release of them to one data set."
            )
            ledger.acknowledge(dataset, said)
        ledger.remember(dataset, [marks.text])


def new_name() -> str:
    """A random name of a release in a ledger; `RandomSourceError` where the system gives none."""
    from budget_opt.randomizer.entropy import fresh_bytes

    return fresh_bytes(16).hex()


def likenesses(ledger: Ledger, dataset: str, marks: Fingerprint) -> dict[str, Likeness]:
    """The other data sets of a ledger that paid for such data, and what they share."""
    from budget_opt.tables.fingerprints import Fingerprint

    found: dict[str, Likeness] = {}
    for other, texts in ledger.fingerprints(besides=dataset).items():
        for text in sorted(texts):
            likeness = marks.likeness(Fingerprint.from_text(text))
            if likeness is not None:
                found[other] = likeness
    return found


def _in_turn(first: Callable[..., None] | None, then: Callable[..., None] | None) -> Callable[..., None]:
    """One call for two, of which either may not be wanted."""

    def both(*arguments: object) -> None:
        for call in (first, then):
            if call is not None:
                call(*arguments)

    return both


def _has_parts(folder: Path) -> bool:
    """Whether a hidden file that is not whole lies in a folder, or nobody can tell."""
    with suppress(OSError):
        return folder.exists() and bool(parts_in(folder))
    return True
