"""The ledger of data sets: what was spent on whom, so that nobody's budget is spent twice."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from budget_opt.errors import InputError
from budget_opt.ledger import decisions, file, witness
from budget_opt.ledger.account import Account, Left, Release
from budget_opt.ledger.cap_changes import changes
from budget_opt.ledger.caps import Caps
from budget_opt.ledger.charge import Charge
from budget_opt.ledger.decisions import account_of
from budget_opt.ledger.given import caps_given, charge_given, listed, require_text
from budget_opt.ledger.record import Record
from budget_opt.ledger.released import ALLOCATION, CELLS, Cells, read_released
from budget_opt.ledger.state import State
from budget_opt.model.arguments import require_path
from budget_opt.tables.private_files import private_folder
from budget_opt.tables.state_directory import state_directory

if TYPE_CHECKING:
    from budget_opt.ledger.checking import Known
    from budget_opt.ledger.events import Event
    from budget_opt.ledger.show import ShownDataset

FILE = "ledger.db"
"""The ledger in the user's state directory."""


@dataclass(frozen=True)
class Reservation:
    """What is spent from now on.

    `number` is that of the release in its data set, from 1, and goes into the manifest; `release` the random
    id that it was reserved under, `event` the number of the event in the ledger.
    """

    dataset: str
    release: str
    number: int
    event: int


class Ledger:
    """What has been spent on each data set, in one file that several processes may use at once.

    Every call opens the file, brings itself up to what others wrote, and ends with everything on the disk; a
    call that raises has recorded nothing. The order is reserve, begin, release, confirm: what is reserved is
    spent, and can be voided until its first word is drawn, so that a crash between never leaves a release
    that is not counted.

    That it is replaced by an older copy is noticed for the same user on the same machine, by a small file in
    the state directory. Elsewhere, and after any doubt, `check` it with the manifests of all releases.

    Every call may raise `LedgerError` (the file is damaged, was edited, or replaced by an older copy; `row`
    is the first event that is wrong) and `InputError` (it is not there, is a link or another's file, is
    read-only or out of space, or others have been writing in it for half a minute).
    """

    def __init__(self, path: str | Path, *, older: str | None = None) -> None:
        self._record = Record(require_path(path, "path").absolute())
        if older is not None:
            require_text(older, "older")
        self._record.require_newest(older)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Ledger], tuple[Path]]:
        return Ledger, (self.path,)

    @classmethod
    def create(cls, path: str | Path) -> Ledger:
        """Begin a ledger in a new file of mode 0600, with a key of its own for keyed hashes.

        The file is there only when it is whole. Its folder must be there, but for the state directory, which
        is made. Raises `InputError` where something is at the path already.
        """
        found = require_path(path, "path").absolute()
        witness.require_place()
        if found.parent == state_directory():
            private_folder(found.parent)
        file.create(found)
        return cls(found)

    @classmethod
    def open(cls, path: str | Path, *, older: str | None = None) -> Ledger:
        """The ledger in a file, after all its events were checked and replayed; never makes one.

        Raises `LedgerError` where it is older than what this user has seen of it on this machine: restored
        from before some release, whose cost it does not know. Elsewhere `check` with all manifests tells.
        `older` says why it is used all the same, which is recorded; what it does not know is then for
        `add_release`.
        """
        return cls(path, older=older)

    @staticmethod
    def default_path() -> Path:
        """The ledger's place in the user's state directory, which `BUDGET_OPT_STATE_DIR` names."""
        return state_directory() / FILE

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._record.path

    @property
    def id(self) -> str:
        """The random name of this ledger, the same in every copy."""
        with self._record.reading() as (state, _):
            return state.ledger

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the data sets, as they were registered."""
        with self._record.reading() as (state, _):
            return tuple(state.accounts)

    def caps(self, dataset: str) -> Caps:
        """The caps of a data set as they are now."""
        with self._record.reading() as (state, _):
            return account_of(state, dataset).caps

    def left(self, dataset: str, *, ahead: bool = False) -> Left:
        """What the next release may spend; with `ahead` also the shares of waves to come (see `Caps`)."""
        with self._record.reading() as (state, _):
            return account_of(state, dataset).left(ahead=ahead)

    def spent(self, dataset: str) -> Left:
        """What was spent by releases that are not void, rounded up; `waves` says how many there are."""
        with self._record.reading() as (state, _):
            return account_of(state, dataset).spent()

    def releases(self, dataset: str) -> tuple[Release, ...]:
        """All reservations of a data set in order, void ones and releases from outside as well."""
        with self._record.reading() as (state, _):
            return tuple(replace(release) for release in account_of(state, dataset).releases.values())

    def shown(self, datasets: Iterable[str] | None = None) -> list[ShownDataset]:
        """For people: these data sets, all by default, with what was spent on them and what became of it."""
        from budget_opt.ledger.show import shown

        with self._record.reading() as (state, rows):
            names = state.accounts if datasets is None else datasets
            accounts = [account_of(state, name) for name in names]
            events = dict(self._record.events_of(rows))
            return [shown(account, events) for account in accounts]

    def events(self) -> list[tuple[int, Event]]:
        """Everything that was recorded, with the numbers of the events."""
        return self._record.events()

    def register(self, dataset: str, caps: Caps) -> None:
        """Begin the account of a data set.

        Raises `InputError` for a name that is registered, or that people would take for one that is: a
        second name is how one budget is spent twice.
        """
        self._record.write(partial(decisions.register, dataset=dataset, caps=caps_given(caps)))

    def change(self, dataset: str, caps: Caps, why: str) -> list[str]:
        """Replace all caps of a data set from now on; in words, which changes allow more to be spent.

        What `caps` does not state is taken away or is the default again. To change one cap alone, write
        `ledger.change(name, dataclasses.replace(ledger.caps(name), total=2.0), why)`. Every change stays on
        record. What was spent stays spent: caps may be lowered below it, and then nothing is left. With
        more rows a person every release that was made costs that much more; fewer are refused after one.
        """
        require_text(why, "why")
        before = self.caps(dataset)
        self._record.write(partial(decisions.change, dataset=dataset, caps=caps_given(caps), why=why))
        return [change.text for change in changes(before, caps) if change.loosens]

    def require_room(self, dataset: str, charge: Charge, *, ahead: bool = False) -> None:
        """`BudgetExceededError` where the charge would pass a cap now; nothing is recorded or kept free.

        Only `reserve` decides: another process may be faster.
        """
        with self._record.reading() as (state, _):
            decisions.require_room(account_of(state, dataset), charge_given(charge), ahead=ahead)

    def reserve(self, dataset: str, charge: Charge, release: str, *, ahead: bool = False) -> Reservation:
        """Spend what a release will cost, before its first word is drawn.

        When the call returns it is on the disk, and counts for every process. `release` is a random id: the
        same id with the same data set and charge is the same reservation, recorded and charged once, so
        that a release can be gone on with. Raises `BudgetExceededError`, with nothing recorded, and
        `InputError` for an id that stands for something else, or is void.
        """
        require_text(release, "release")
        decide = partial(
            decisions.reserve,
            dataset=dataset,
            charge=charge_given(charge),
            release=release,
            ahead=bool(ahead),
        )
        return _reservation(self._record.write(decide), release)

    def begin(self, release: str) -> None:
        """Record that the words of a reserved release are drawn from here on: nobody can void it any more.

        To be called before the first word. The same once more changes nothing. Raises `InputError` for an
        id that is not reserved, or is void: then nothing may be drawn.
        """
        self._record.write(partial(decisions.begin, release=release))

    def confirm(self, release: str, *, cells: str, rows: int, allocation_sha256: str) -> Reservation:
        """Record that a reserved release is there: `cells` is the keyed digest of all that was released.

        The same once more changes nothing. Raises `InputError` for an id that is not reserved, is void, or
        was confirmed with other cells, and for another allocation than what was charged for.
        """
        decide = partial(
            decisions.confirm, release=release, cells=cells, rows=rows, allocation_sha256=allocation_sha256
        )
        return _reservation(self._record.write(decide), release)

    def void(self, release: str, why: str = "nothing was drawn") -> None:
        """Give back what was reserved. Only for a release of which no word was drawn.

        Everything else that fails stays spent: a report that was drawn may have been read. Voiding once more
        changes nothing. Raises `InputError` for an id that is not reserved, has begun, or is confirmed.
        """
        require_text(why, "why")
        self._record.write(partial(decisions.void, release=release, why=why))

    def add_release(self, dataset: str, release: Charge | str | Path, why: str) -> Reservation:
        """Count a release that was made without this ledger, or that a restored one does not know.

        `release` is its manifest.json, so that `check` knows it again by the table that lies beside it; or,
        where that is lost, what it costs (`Charge.of`). It is spent whatever the caps say, since it cannot
        be undone; `why` is recorded. Raises `InputError` for a table that is counted already.
        """
        require_text(why, "why")
        charge, cells = (release, None) if isinstance(release, Charge) else self._at(release)
        name = secrets.token_hex(16)
        decide = partial(
            decisions.add_release,
            dataset=dataset,
            charge=charge_given(charge),
            release=name,
            why=why,
            cells=cells,
        )
        return _reservation(self._record.write(decide), name)

    def _at(self, manifest: str | Path) -> tuple[Charge, Cells | None]:
        """What the release with this manifest costs, and the digest of its table, if that is there."""
        found = read_released(require_path(manifest, "release"), self.keyed(CELLS).copy)
        if found.allocation is None:
            raise InputError(
                f"{manifest}: beside it is no {ALLOCATION} that it was released under, so that nobody "
                "can say what it cost. Put it there, or record the allocation alone."
            )
        if found.fault:
            raise InputError(f"{manifest}: {found.fault}. Put the table there as it was released.")
        return Charge.of(found.allocation), found.cells

    def keyed(self, purpose: str) -> hashlib.blake2b:
        """A new keyed hash of 32 bytes (BLAKE2b): `update`, `copy`, `digest`, `hexdigest`.

        Each purpose has a key of its own, HMAC-SHA256 of it under the ledger's. Without that key nobody can
        test a guess of the data against a digest. It is in the file alone, and in nothing that is printed.
        """
        require_text(purpose, "purpose")
        message = b"budget-opt ledger\0" + purpose.encode()
        derived = hmac.new(self._record.key(), message, hashlib.sha256).digest()
        return hashlib.blake2b(key=derived, digest_size=32)

    def recorded(self, dataset: str, cells: str) -> int | None:
        """The number of the confirmed release of the data set with these very cells, None where none has."""
        with self._record.reading() as (state, _):
            return account_of(state, dataset).cells.get(cells)

    def repeat(self, dataset: str, *, cells: str, rows: int, release: str | None = None) -> int:
        """Record that a release went out once more, which is free; the number of the one that it repeats.

        Where it was reserved, under the name `release`, the same event gives that back, begun or not: the
        words that were drawn gave these `cells` and no others, which only a keyed release can know, and
        which the caller answers for. Raises `InputError` where no confirmed release of the data set has
        exactly these cells, and for a `release` that is not reserved for it, or is confirmed.
        """
        decide = partial(decisions.repeat, dataset=dataset, cells=cells, rows=rows, release=release)
        state = self._record.write(decide)
        return state.accounts[dataset].cells[cells]

    def remember(self, dataset: str, fingerprints: Iterable[str]) -> None:
        """Record keyed fingerprints of the data (lines of text), those that are new."""
        given = frozenset(listed(fingerprints, "fingerprints"))
        self._record.write(partial(decisions.remember, dataset=dataset, fingerprints=given))

    def fingerprints(self, *, besides: str | None = None) -> dict[str, frozenset[str]]:
        """The fingerprints of every data set, for whoever compares them; not those of the one `besides`."""
        with self._record.reading() as (state, _):
            found = {name: frozenset(account.fingerprints) for name, account in state.accounts.items()}
        return {name: fingerprints for name, fingerprints in found.items() if name != besides}

    def acknowledge(self, dataset: str, warning: str) -> None:
        """Record that a person has read this warning about a data set and goes on; once is enough."""
        require_text(warning, "warning")
        self._record.write(partial(decisions.acknowledge, dataset=dataset, warning=warning))

    def acknowledged(self, dataset: str, warning: str) -> bool:
        """Whether somebody has read this warning about a data set."""
        with self._record.reading() as (state, _):
            return warning in account_of(state, dataset).warnings

    def check(self, manifests: Iterable[str | Path], dataset: str | None = None) -> tuple[Known, ...]:
        """Whether this ledger counts the releases that these manifests are of, of one data set or any.

        A table that lies beside its manifest is read, and known only where a release with these very cells
        is on record; without it only its number and allocation are compared (`Known.certain` is false). A
        restored ledger does not know the releases since. Opening one notices that by itself only for the
        user and on the machine that used the newer one: elsewhere check all manifests. Raises `InputError`
        for a file that is no manifest.
        """
        from budget_opt.ledger.checking import known, without_repetitions

        paths = [require_path(path, "manifests") for path in listed(manifests, "manifests")]
        found = [read_released(path, self.keyed(CELLS).copy) for path in dict.fromkeys(paths)]
        with self._record.reading() as (state, _):
            accounts: list[Account] = list(state.accounts.values())
            if dataset is not None:
                accounts = [account_of(state, dataset)]
            return without_repetitions([known(one, accounts) for one in found])


def _reservation(state: State, release: str) -> Reservation:
    found = state.releases[release]
    return Reservation(found.dataset, release, found.number, found.event)
