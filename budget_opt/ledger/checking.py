"""Does a ledger know the releases that are out there? Their manifests tell (R25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budget_opt.errors import InputError
from budget_opt.ledger.account import Account, Release
from budget_opt.model.documents import read_document


@dataclass(frozen=True)
class Known:
    """What a ledger knows of the release with this manifest: `dataset` None where it does not know it.

    `number` is that of the release in its data set, as the manifest says.
    """

    manifest: Path
    number: int
    allocation_sha256: str
    dataset: str | None
    said: str

    @property
    def holds(self) -> bool:
        """Whether the release is counted."""
        return self.dataset is not None

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        return {
            "manifest": str(self.manifest),
            "release": self.number,
            "allocation_sha256": self.allocation_sha256,
            "dataset": self.dataset,
            "holds": self.holds,
            "said": self.said,
        }

    def __str__(self) -> str:
        return f"{'known' if self.holds else 'NOT KNOWN'}  {self.manifest}: {self.said}"


def known(path: Path, accounts: Sequence[Account]) -> Known:
    """What these accounts know of the release with the manifest at `path`; `InputError` where it is none."""
    document = read_document(path, "budget-opt/manifest", 1, InputError)
    number, digest = document.get("release"), document.get("allocation_sha256")
    if type(number) is not int or not isinstance(digest, str):
        raise InputError(f"{path}: does not say its release or allocation, so it is no manifest.")
    for account in accounts:
        for release in account.releases.values():
            if (release.number, release.charge.allocation_sha256) == (number, digest):
                return _of(path, release)
    return Known(path, number, digest, None, _unknown(number, accounts))


def _of(path: Path, release: Release) -> Known:
    digest = release.charge.allocation_sha256
    what = f"release {release.number} of {release.dataset}, {release.status}"
    if release.status == "void":
        said = f"{what}: it was given up, and is not counted. Record it with: budget-opt ledger record."
        return Known(path, release.number, digest, None, said)
    return Known(path, release.number, digest, release.dataset, what)


def _unknown(number: int, accounts: Sequence[Account]) -> str:
    most = max((len(account.releases) for account in accounts), default=0)
    record = "Record it with: budget-opt ledger record."
    if number > most:
        return (
            f"is release {number} of a data set, and this ledger has at most {most} of one: it was restored "
            f"from before that release, or is another ledger. Use the newer one; where that is lost: {record}"
        )
    return f"is release {number} under an allocation that this ledger does not know by that number. {record}"
