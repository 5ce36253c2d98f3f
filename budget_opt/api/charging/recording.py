"""Counting a release that was made without the ledger, by what it truly cost."""

from __future__ import annotations

from pathlib import Path

from budget_opt.allocation import Allocation
from budget_opt.api.charging.pilots import record_making
from budget_opt.errors import InputError
from budget_opt.ledger.charge import Charge
from budget_opt.ledger.ledger import Ledger, Reservation
from budget_opt.model.documents import read_mapping


def record_release(ledger: Ledger, dataset: str, path: Path, why: str) -> Reservation:
    """Count the release with this manifest, or under this allocation file, whatever is left.

    What the problem says was made from the data is counted too, once. Raises `VerificationError` for an
    allocation that overspends: what it cost is not what it says. Else as `Ledger.add_release`.
    """
    from budget_opt.verifier.static import verify_privacy

    alone = path.is_file() and read_mapping(path, InputError).get("format") == "budget-opt/allocation"
    beside = path if alone else path.with_name("allocation.json")
    if not beside.exists():
        return ledger.add_release(dataset, path, why)  # which says what is missing
    allocation = Allocation.read(beside)
    verify_privacy(allocation).require()
    record_making(ledger, dataset, allocation.question, why)
    return ledger.add_release(dataset, Charge.of(allocation) if alone else path, why)
