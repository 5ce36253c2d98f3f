"""How a release is charged: reserved before its first word, confirmed before it is there (R17 to R25).

The order is: read all of the original, reserve, begin, draw, verify, confirm, place. The first reading draws
nothing. It tells every fault, which then costs nothing (R10), and it makes the marks by which the same data
under another name are noticed, so that the warning comes before anything is drawn. Whatever has got its
place is confirmed in the ledger, with the digest of its cells; and a kill at any moment leaves a charge that
is spent, whether or not there is a release for it. What is spent is never below what was released.

**When a charge is taken back.** Before the first word is drawn, and never after it, whatever fails and
whoever says that nobody has seen a report: that the words are begun stands in the ledger, which refuses to
void such a release from then on. The one exception is a repetition (below), which tells nothing new. Who
may stop a release while it is drawn, by a full disk, a signal, a hook or a cell that they changed, can read
its rows wherever they wait: in memory, in the folder, and in a file without a name through the system's list
of open files. A release that is stopped for nothing could then be drawn again and again, until the mean of
the reports is the record. So the charge stays where the random source fails (R7), where a check fails (to
draw until the result pleases is what a budget forbids), and also where a cell is faulty that was not when
the file was first read: then it was changed in between. A later run of an unfinished release (`--resume`)
takes nothing back at all.

**What is free.** A release whose cells are identical to those of a recorded one of the same data set tells
nobody anything new. Fresh words never give one; the same `KeyedRelease` of the same table does. Where there
is room it is reserved and begun like any other, and given back when its cells turn out to be recorded: by
the event that records the repetition (`Ledger.repeat`), and by none before it. Where there is none it is
first computed into its digest alone, and refused unless that is recorded: one that is shuffled waits in a
file without a name meanwhile. It is shown to nobody but who has the key, and who has it needs no ledger to
compute it; a ledger counts the releases of those who go by it, and cannot hold those who do not.
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
from budget_opt.api.charging.known_data import DataMarks
from budget_opt.api.charging.notes import tell_misfits
from budget_opt.api.charging.pilots import (
    Price,
    priced,
    release_named,
    require_free_name,
    reserve_priced,
)
from budget_opt.errors import BudgetExceededError, BudgetOptError, DataError, InputError
from budget_opt.ledger.amounts import decimal_of, plain
from budget_opt.ledger.charge import Charge
from budget_opt.ledger.ledger import Ledger
from budget_opt.ledger.released import CELLS, cells_of
from budget_opt.ledger.wording import rows_of_one
from budget_opt.tables.cell_digest import CellDigest

if TYPE_CHECKING:
    import pyarrow as pa

    from budget_opt.randomizer.files import FileOptions
    from budget_opt.tables.encoding import Codes

Show: TypeAlias = "Callable[[Callable[[pa.RecordBatch], None]], None]"
"""Computes a keyed release and shows its rows to a function, in the order in which they would be written."""


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
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.dataset, self.ahead, self.tell = dataset, ahead, tell or _warn
        if ledger is not None:
            require(ledger, Ledger, "ledger", "Open one with Ledger.open(path).")
        self.ledger = Ledger.open(Ledger.default_path()) if ledger is None else ledger

    def reserve(self, allocation: Allocation, name: str) -> int:
        """Charge a release that is made elsewhere, before its first word is drawn; which release it is.

        `name` stands for this release: the same once more is charged once, as when a job is run again. From
        here on it is spent, whatever becomes of it. It stands for one `KeyedRelease`, with one key and
        number, of one table: another key under the same name is another release, and is not noticed here.
        What the problem says was made from the data is charged with it, where no pilot on record has paid for
        that. Raises `VerificationError` for an allocation that overspends, `BudgetExceededError` where not
        enough is left, and `InputError` for a name that begins as those of the ledger's own do.
        """
        require_free_name(name)
        _require_private(allocation)
        price, reserved = reserve_priced(self, allocation.question, Charge.of(allocation), name)
        self.ledger.begin(price.name)
        tell_misfits(self, allocation.question)
        return reserved.number

    def confirm(self, allocation: Allocation, name: str, released: Any) -> int:
        """Record that it is there: `released` is the table, or its path; which release it is."""
        cells = cells_of(released, allocation, self.ledger.keyed(CELLS).copy)
        charge = Charge.of(allocation)
        price = priced(self.ledger, self.dataset, allocation.question, charge, require_free_name(name))
        confirmed = self.ledger.confirm(
            price.name, cells=cells.digest, rows=cells.rows, allocation_sha256=charge.allocation_sha256
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
    """One release and its charge: let it `look` at the originals, `reserve`, `begin`, draw, and `confirm`.

    `name` is the release's in the ledger, a fresh one unless it is given; `resumed` says that an earlier run
    has had it. `show` computes the release, where it is keyed. `number` says which release of the data set it
    is, once it is reserved.
    """

    def __init__(
        self,
        payer: Payer,
        allocation: Allocation,
        *,
        name: str | None = None,
        resumed: bool = False,
        show: Show | None = None,
    ) -> None:
        self._payer, self._show = payer, show
        self._charge, self._question = Charge.of(allocation), allocation.question
        self._domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
        self._name = new_name() if name is None else name
        self._price = Price(self._name, self._charge)
        self.number = 0
        self._reserved = self._confirmed = False
        self._resumed = resumed
        self._repeated: str | None = None
        self._cells = self._new_cells()
        self._marks = DataMarks(payer.ledger, payer.dataset, self._domains, payer.tell)

    def look(self, codes: Mapping[str, Codes]) -> None:
        """Take the codes of the next rows of the originals, before anything is drawn."""
        self._marks.add(codes)

    def reserve(self) -> None:
        """Charge the release, once however often this is called for its name.

        First says where its data are known under another name. Raises `BudgetExceededError` where there
        is no room and it repeats no recorded release; `InputError` and `LedgerError` where the ledger does
        not know the data set or cannot be used.
        """
        ledger, dataset = self._payer.ledger, self._payer.dataset
        self._marks.warn()
        try:
            self._price, made = reserve_priced(self._payer, self._question, self._charge, self._name)
            self.number, self._reserved = made.number, True
            tell_misfits(self._payer, self._question)
        except BudgetExceededError:
            if self._show is None:
                raise
            cells = self._new_cells()
            self._show(cells.add)
            number = ledger.recorded(dataset, cells.hexdigest())
            if number is None:
                raise
            self.number, self._repeated = number, cells.hexdigest()
            return
        self._marks.remember()

    def begin(self) -> None:
        """From here on words are drawn, and what is charged stays charged."""
        if self._reserved:
            self._payer.ledger.begin(self._price.name)

    def released(self, batch: pa.RecordBatch) -> None:
        """Take the next released rows, in their order."""
        self._cells.add(batch)

    def confirm(self) -> None:
        """Record the release, which is whole and has not got its place; a repetition becomes free."""
        ledger, dataset, cells = self._payer.ledger, self._payer.dataset, self._cells.hexdigest()
        if self._show is not None and ledger.recorded(dataset, cells) is not None:
            own = self._price.name if self._reserved else None
            self.number = ledger.repeat(dataset, cells=cells, rows=self._cells.rows, release=own)
            self._reserved, self._repeated = False, cells
            return
        if not self._reserved:
            raise InputError(
                f"{dataset}: the data were changed while they were read, so this repeats no recorded "
                "release. Let nobody write to them, and run it again."
            )
        allocation = self._charge.allocation_sha256
        ledger.confirm(self._price.name, cells=cells, rows=self._cells.rows, allocation_sha256=allocation)
        self._reserved, self._confirmed = False, True

    def watching(self, options: FileOptions) -> FileOptions:
        """The options with this bill's calls: it looks and reserves first, and confirms last of all."""
        return replace(
            options,
            on_originals=self.look,
            before_words=in_turn(self.reserve, options.before_words, self.begin),
            on_released=in_turn(self.released, options.on_released),
            before_commit=in_turn(options.before_commit, self.confirm),
        )

    @contextmanager
    def settled(self) -> Iterator[None]:
        """After a failure in the block `settle` the charge."""
        try:
            yield
        except BaseException as failure:
            self.settle(failure)
            raise

    def settle(self, failure: BaseException) -> None:
        """After this failure take the charge back where nothing was drawn, else say that it stays."""
        if self._reserved and not self._resumed:
            self._void("it failed before any report was drawn")
        elif self._reserved or self._confirmed or self._was_reserved():
            self._keep()
        elif isinstance(failure, DataError):
            self._payer.tell(f"note: nothing is charged to {self._payer.dataset!r}: no report was drawn")

    def receipt(self) -> str:
        """What it cost and what is left, in words, once it is confirmed."""
        if self._repeated is not None:
            return f"free: its cells are those of release {self.number} of {self._payer.dataset!r}"
        left = self._payer.ledger.left(self._payer.dataset, ahead=self._payer.ahead).total
        rows = rows_of_one(self._payer.ledger.caps(self._payer.dataset))
        left_to_it = f"what is left of the total for the next release: {plain(decimal_of(left))}"
        return f"charged: {self}; {left_to_it}; {rows}"

    def __str__(self) -> str:
        spent = plain(self._price.charge.epsilon)
        return f"epsilon {spent} a record to {self._payer.dataset!r}, its release {self.number}"

    def _was_reserved(self) -> bool:
        """Whether an earlier run has charged it."""
        found = None
        if self._resumed:
            with suppress(BudgetOptError):
                found = release_named(self._payer.ledger.releases(self._payer.dataset), self._name)
        if found is None or found.status == "void":
            return False
        self.number, self._price = found.number, Price(found.name, found.charge)
        return True

    def _keep(self) -> None:
        self._payer.tell(f"note: the charge stays ({self})")

    def _void(self, why: str) -> None:
        """Take the charge back; where words are begun, or the ledger cannot be written, it stays."""
        try:
            self._payer.ledger.void(self._price.name, why=why)
        except BudgetOptError:
            self._keep()
            return
        self._reserved = False
        self._payer.tell(f"note: nothing is charged to {self._payer.dataset!r}: {why}")

    def _new_cells(self) -> CellDigest:
        return CellDigest(self._domains, self._payer.ledger.keyed(CELLS).copy)


def new_name() -> str:
    """A random name of a release in a ledger; `RandomSourceError` where the system gives none."""
    from budget_opt.randomizer.entropy import fresh_bytes

    return fresh_bytes(16).hex()


def _require_private(allocation: Allocation) -> None:
    """`VerificationError` for an allocation whose losses are not what it says."""
    from budget_opt.verifier.static import verify_privacy

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    verify_privacy(allocation).require()


def in_turn(*calls: Callable[..., None] | None) -> Callable[..., None]:
    """One call for several, of which some may not be wanted."""

    def together(*arguments: object) -> None:
        for call in calls:
            if call is not None:
                call(*arguments)

    return together
