"""What may be recorded after what: each function says which event comes next, if any, or why none may.

They read the state of the ledger while nobody else can write, and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from budget_opt.errors import BudgetExceededError, InputError
from budget_opt.ledger import wording
from budget_opt.ledger.account import Account, Release
from budget_opt.ledger.caps import Caps
from budget_opt.ledger.charge import Charge
from budget_opt.ledger.events import Event, new_event
from budget_opt.ledger.names import require_name
from budget_opt.ledger.released import Cells
from budget_opt.ledger.state import State


def account_of(state: State, dataset: str) -> Account:
    """The account of a data set; `InputError` where there is none."""
    if not isinstance(dataset, str):
        raise InputError(f"dataset: is {dataset!r}. Give the name of the data set.")
    account = state.accounts.get(dataset)
    if account is None:
        raise InputError(wording.unknown(dataset, state.look_alike(dataset), list(state.accounts)))
    return account


def require_room(account: Account, charge: Charge, *, ahead: bool) -> None:
    """`BudgetExceededError` where the charge would pass a cap."""
    _require_rows(account, charge)
    if exceeded := account.exceeded(charge, ahead=ahead):
        raise BudgetExceededError(
            wording.exceeded(account, exceeded, ahead=ahead), dataset=account.name, exceeded=exceeded
        )


def register(state: State, dataset: str, caps: Caps) -> Event:
    """A new data set, whose name looks like no other's."""
    require_name(dataset, "dataset")
    twin = state.look_alike(dataset)
    if twin is not None:
        raise InputError(wording.taken(dataset, twin))
    return new_event("register", dataset=dataset, caps=caps.to_dict())


def change(state: State, dataset: str, caps: Caps, why: str) -> Event:
    """Other caps; not so many rows that what was spent would become less."""
    account = account_of(state, dataset)
    before = account.caps
    if before == caps:
        raise InputError(f"{dataset}: has these caps already. Nothing was changed.")
    if caps.max_rows < before.max_rows and account.paid:
        raise InputError(
            f"max_rows: is {caps.max_rows}, was {before.max_rows}, and releases were made: each would be "
            "counted as cheaper than it was. Leave it, and raise the caps where that is meant."
        )
    return new_event("change", dataset=dataset, caps=caps.to_dict(), why=why)


def reserve(state: State, dataset: str, charge: Charge, release: str, *, ahead: bool) -> Event | None:
    """A release that costs; none where it is reserved already."""
    account = account_of(state, dataset)
    found = state.releases.get(release)
    if found is not None:
        _require_same(found, dataset, charge)
        return None
    require_room(account, charge, ahead=ahead)
    return new_event("reserve", dataset=dataset, release=release, charge=charge.to_dict(), ahead=ahead)


def begin(state: State, release: str) -> Event | None:
    """A reserved release whose words are drawn from here on; none where that is known."""
    found = _spent(state, release)
    return None if found.begun or found.status == "confirmed" else new_event("begun", release=release)


def confirm(state: State, release: str, *, cells: str, rows: int, allocation_sha256: str) -> Event | None:
    """A reserved release that is there; none where it is confirmed with these cells already."""
    found = _spent(state, release)
    if found.charge.allocation_sha256 != allocation_sha256:
        raise InputError(f"release {release}: was charged for another allocation. Release under that one.")
    if found.status == "confirmed":
        if state.accounts[found.dataset].cells.get(cells) != found.number:
            raise InputError(f"release {release}: is confirmed with other cells. Reserve another release.")
        return None
    return new_event("confirm", release=release, cells=cells, rows=rows)


def void(state: State, release: str, why: str) -> Event | None:
    """A reservation of which no word was drawn, and which is given back; none where it was."""
    found = state.releases.get(release)
    if found is not None and found.status == "void":
        return None
    if _reserved(state, release).begun:
        raise InputError(f"release {release}: its words were drawn, so it stays spent.")
    return new_event("void", release=release, why=why)


def add_release(
    state: State, dataset: str, charge: Charge, release: str, why: str, cells: Cells | None
) -> Event:
    """A release that was made elsewhere, whatever is left; not one whose cells are on record."""
    account = account_of(state, dataset)
    _require_rows(account, charge)
    if cells is not None and (number := account.cells.get(cells.digest)) is not None:
        raise InputError(
            f"{dataset}: its release {number} is this very table, and is counted. There is nothing to record."
        )
    return new_event(
        "outside",
        dataset=dataset,
        release=release,
        charge=charge.to_dict(),
        why=why,
        cells=None if cells is None else cells.digest,
        rows=None if cells is None else cells.rows,
    )


def repeat(state: State, dataset: str, *, cells: str, rows: int, release: str | None = None) -> Event:
    """The same cells once more; the `release` is what was reserved for them, and is given back.

    A reservation has no cells on record, so that those are another release's.
    """
    if cells not in account_of(state, dataset).cells:
        raise InputError(
            f"{dataset}: no recorded release has these cells, so it is another one, which costs. Reserve it."
        )
    if release is None:
        return new_event("repeat", dataset=dataset, cells=cells, rows=rows)
    if (other := _reserved(state, release).dataset) != dataset:
        raise InputError(f"release {release}: is reserved for {other}, and these cells are of {dataset}.")
    return new_event("repeat", dataset=dataset, cells=cells, rows=rows, release=release)


def remember(state: State, dataset: str, fingerprints: Iterable[str]) -> Event | None:
    """Those fingerprints of the data that are new, if any."""
    new = sorted(set(fingerprints) - account_of(state, dataset).fingerprints)
    return new_event("data", dataset=dataset, fingerprints=new) if new else None


def acknowledge(state: State, dataset: str, warning: str) -> Event | None:
    """A warning that was read, once."""
    done = warning in account_of(state, dataset).warnings
    return None if done else new_event("acknowledge", dataset=dataset, warning=warning)


def _require_rows(account: Account, charge: Charge) -> None:
    if charge.max_rows > account.caps.max_rows:
        raise InputError(
            f"{account.name}: the allocation is for persons with up to {charge.max_rows} rows, and the data "
            f"set is registered with {account.caps.max_rows}. Register what is true: budget-opt ledger "
            "change --max-rows."
        )


def _require_same(found: Release, dataset: str, charge: Charge) -> None:
    if (found.dataset, found.charge) != (dataset, charge):
        raise InputError(f"release {found.name}: stands for another release. Take a new random id.")
    if found.status == "void":
        raise InputError(f"release {found.name}: was given up. Take a new random id.")


def _reserved(state: State, release: str) -> Release:
    """A release that was reserved, and neither confirmed nor given back."""
    found = _spent(state, release)
    if found.status != "reserved":
        raise InputError(f"release {release}: was released, so it stays spent.")
    return found


def _spent(state: State, release: str) -> Release:
    """A release that was reserved, and not given back."""
    found = state.releases.get(release)
    if found is None or found.status in ("void", "outside"):
        raise InputError(
            f"release {release}: is not reserved in this ledger. Reserve it before anything is drawn."
        )
    return found
