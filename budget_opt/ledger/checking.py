"""Does a ledger know the releases that are out there? Their manifests and tables tell (R25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from budget_opt.ledger.account import Account, Release
from budget_opt.ledger.released import Released

_COMMAND = "budget-opt ledger record NAME"
_RECORD = f"Record it with: {_COMMAND}"


@dataclass(frozen=True)
class Known:
    """What a ledger knows of the release with this manifest: `dataset` None where it does not know it.

    `number` is that of the release in its data set, as the manifest says. `certain` is false where the table
    does not lie beside the manifest: then a release with this number and allocation is counted, and nobody
    can say whether it is this one.
    """

    manifest: Path
    number: int
    allocation_sha256: str
    dataset: str | None
    said: str
    certain: bool = True

    @property
    def holds(self) -> bool:
        """Whether the release is counted, as far as can be told."""
        return self.dataset is not None

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        return {
            "manifest": str(self.manifest),
            "release": self.number,
            "allocation_sha256": self.allocation_sha256,
            "dataset": self.dataset,
            "holds": self.holds,
            "certain": self.certain,
            "said": self.said,
        }

    def __str__(self) -> str:
        verdict = "NOT KNOWN" if not self.holds else "known" if self.certain else "counted"
        return f"{verdict}  {self.manifest}: {self.said}"


def known(found: Released, accounts: Sequence[Account]) -> Known:
    """What these accounts know of a release: by its cells, or, without its table, by its number."""
    if found.cells is not None:
        for account in accounts:
            number = account.cells.get(found.cells.digest)
            if number is not None:
                return _known(found, account, number)
    alike = [
        release
        for account in accounts
        for release in account.releases.values()
        if (release.number, release.charge.allocation_sha256) == (found.number, found.allocation_sha256)
    ]
    if not found.absent:
        return _verdict(found, None, _drawn_elsewhere(found, alike))
    for release in alike:
        if release.status != "void":
            return _counted(found, release)
    if alike:
        what = f"release {alike[0].number} of {alike[0].dataset}"
        return _verdict(found, None, f"{what} was given up, and is not counted. {_record(found)}")
    return _verdict(found, None, _unknown(found, accounts))


def without_repetitions(found: Sequence[Known]) -> tuple[Known, ...]:
    """The same, but what is counted once is the release of one manifest: a second one is not known."""
    taken: set[tuple[str, int, str]] = set()
    checked = []
    for one in found:
        key = (one.dataset or "", one.number, one.allocation_sha256)
        if one.holds and not one.certain and key in taken:
            said = f"another manifest has its number and allocation, and only one such is counted. {_RECORD}."
            checked.append(replace(one, dataset=None, said=said, certain=True))
            continue
        if one.holds:
            taken.add(key)
        checked.append(one)
    return tuple(checked)


def _verdict(found: Released, dataset: str | None, said: str, *, certain: bool = True) -> Known:
    return Known(found.manifest, found.number, found.allocation_sha256, dataset, said, certain)


def _record(found: Released) -> str:
    return f"{_RECORD} {found.manifest} --why TEXT."


def _known(found: Released, account: Account, number: int) -> Known:
    other = "" if number == found.number else f" (its manifest says {found.number})"
    return _verdict(
        found, account.name, f"its table is release {number} of {account.name}{other}, and is counted"
    )


def _counted(found: Released, release: Release) -> Known:
    said = (
        f"release {release.number} of {release.dataset}, {release.status}: a release with this number and "
        "allocation is counted; whether it is this one cannot be told without the table"
    )
    return _verdict(found, release.dataset, said, certain=False)


def _drawn_elsewhere(found: Released, alike: Sequence[Release]) -> str:
    if found.cells is None:
        return f"{found.fault}. {_record(found)}"
    said = "this table was drawn without the ledger, or changed since: no release on record has its cells. "
    for release in alike:
        if release.status in ("reserved", "outside"):
            said += (
                f"Release {release.number} of {release.dataset} ({release.status}) has this number and "
                "allocation, but the cells of none are recorded with it; to be sure, count this one as well. "
            )
        elif release.status == "confirmed":
            said += f"Release {release.number} of {release.dataset} is another draw. "
    return said + _record(found)


def _unknown(found: Released, accounts: Sequence[Account]) -> str:
    most = max((len(account.releases) for account in accounts), default=0)
    if found.number > most:
        return (
            f"it is release {found.number} of a data set, and this ledger has at most {most} of one: it was "
            "restored from before that release, or is another ledger. Use the newer ledger; if that is lost, "
            f"record this release in this one: {_COMMAND} {found.manifest} --why TEXT."
        )
    return (
        f"it is release {found.number} under an allocation that this ledger does not know by that number. "
        f"{_record(found)}"
    )
