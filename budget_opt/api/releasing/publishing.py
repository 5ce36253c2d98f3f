"""A release as a folder that may leave the house: table, allocation, manifest (DESIGN 3.3)."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.charging.charging import Bill, Payer
from budget_opt.api.releasing.releasing import release_file
from budget_opt.errors import BudgetOptError, InputError
from budget_opt.model.documents import json_text, write_document, write_text
from budget_opt.tables.whole_files import parts_in

if TYPE_CHECKING:
    from budget_opt.randomizer.release import Release
    from budget_opt.verifier.release_report import ReleaseReport

ALLOCATION = "allocation.json"
MANIFEST = "manifest.json"
VERIFICATION = "verification.json"


@dataclass(frozen=True)
class Published:
    """What was written: the release, its manifest, and the internal report where one was asked for.

    `charged` says what it cost, and what is left, where it was charged to a ledger. `before` says that it was
    there already, so that nothing was drawn.
    """

    release: Release
    manifest: dict[str, Any]
    folder: Path
    report: ReleaseReport | None
    internal: Path | None
    charged: str | None = None
    before: bool = False

    def __str__(self) -> str:
        lines = [
            f"released {self.release.rows:,} rows, columns {', '.join(self.release.columns)}",
            f"to pass on: {self.release.table}, {self.folder / ALLOCATION}, {self.folder / MANIFEST}",
        ]
        if self.report is not None and self.internal is not None:
            verdict = f"{len(self.report.checks)} checks against the originals hold"
            lines.append(f"{verdict}; internal, do not pass on: {self.internal / VERIFICATION}")
        if self.charged is not None:
            lines.append(self.charged)
        return "\n".join(lines)


@dataclass(frozen=True)
class Place:
    """Where a release goes: the table's path, and the folder of the internal report or None."""

    table: Path
    internal: Path | None = None


def publish(
    allocation_path: Path,
    data: Path,
    place: Place,
    *,
    row_order: Literal["shuffle", "public"] | None = None,
    progress: Callable[[int, float], None] | None = None,
    charge_to: Payer | None = None,
) -> Published:
    """Release `data` under the allocation, with its manifest and a copy of the allocation beside it.

    The folder of the table is made where it is not there. With `place.internal` the release is
    verified against the originals when all is written, and before it is there; the report
    goes into that folder. One folder holds one release: drawing again is another release and costs
    again. It is charged to `charge_to`, and the manifest says which release of that data set it is.

    Raises what `randomize_file` raises, `InputError` where something would be overwritten,
    `VerificationError` where a check fails; then nothing is released, and `api.charging` says what becomes
    of the charge.
    """
    from budget_opt.randomizer.files import FileOptions
    from budget_opt.randomizer.manifest import manifest

    allocation = Allocation.read(allocation_path)
    # what goes out is what was checked, not the bytes of a file that somebody may be editing
    text = json_text(allocation.to_dict())
    digest = digest_of(text)
    folder = place.table.parent
    require_nameable(place.table)
    require_vacant(folder, text)
    require_place_inside(place)
    bill = None
    if charge_to is not None:
        charge_to.require_outside(folder)
        bill = Bill(charge_to, allocation)
    watch = None
    if place.internal is not None:
        watch = Watch(allocation, data, place.table.name, digest, place.internal)
    options = FileOptions(
        row_order=row_order,
        progress=progress,
        on_batch=None if watch is None else watch.judge.add,
        before_commit=None if watch is None else watch.verify,
    )
    settled = nullcontext() if bill is None else bill.settled()
    with all_or_nothing(folder, place.internal) as written, settled:
        watched = options if bill is None else bill.watching(options)
        with _placing(place.table, written):
            release = release_file(data, allocation, place.table, watched)
        if not (folder / ALLOCATION).exists():
            with _placing(folder / ALLOCATION, written):
                write_text(text, folder / ALLOCATION, new=True)
        document = manifest(release, digest, number=1 if bill is None else bill.number)
        # the claim to the folder: of two releases at the same moment one loses here, and goes
        with _placing(folder / MANIFEST, written):
            write_document(document, folder / MANIFEST, new=True)
    report, charged = None if watch is None else watch.report, None if bill is None else bill.receipt()
    return Published(release, document, folder, report, place.internal, charged)


class Watch:
    """The judge of a release, and its report in the internal folder before the release is there.

    `claim` is called with the report's path before it is written, and allows that to replace a file.
    """

    def __init__(
        self,
        allocation: Allocation,
        data: Path,
        table: str,
        digest: str,
        folder: Path,
        claim: Callable[[Path], None] | None = None,
    ) -> None:
        from budget_opt.verifier.streamed import StreamedJudge

        self.judge = StreamedJudge(allocation, data)
        self.report: ReleaseReport | None = None
        self._of = {"released": table, "allocation_sha256": digest}
        self._path, self._claim = folder / VERIFICATION, claim

    def verify(self) -> None:
        """Write the report; raise `VerificationError` where a check fails."""
        self.report = self.judge.report()
        if self._claim is not None:
            self._claim(self._path)
        write_document({**self.report.to_dict(), **self._of}, self._path, new=self._claim is None)
        self.report.require()


def digest_of(text: str) -> str:
    """The SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


@contextmanager
def all_or_nothing(*folders: Path | None) -> Iterator[list[Path]]:
    """The folders, made where they are not there; on an error what was written goes, and new folders."""
    written: list[Path] = []
    made = [path for folder in folders if folder is not None for path in _make(folder)]
    try:
        yield written
    except BaseException:
        for path in written:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for folder in reversed(made):
            # a report of a failed verification stays, and its folder with it
            if not any(folder.iterdir()):
                folder.rmdir()
        raise


@contextmanager
def _placing(path: Path, written: list[Path]) -> Iterator[None]:
    """Note a file that gets its place in the block, also where Ctrl-C comes right after it got there.

    After an error of ours it did not: what has the name then is another's.
    """
    free = not os.path.lexists(path)
    try:
        yield
    except BudgetOptError:
        raise
    except BaseException:
        if free:
            written.append(path)
        raise
    written.append(path)


def _make(folder: Path) -> list[Path]:
    """Make a folder; those of its parents and itself that were not there."""
    missing = [path for path in (*reversed(folder.parents), folder) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise InputError(f"{folder}: cannot be made ({failure.strerror}). Choose another place.") from None
    return missing


def require_nameable(table: Path) -> None:
    """`InputError` for a path that can never be a table's, before a word is drawn or a key is made.

    It has no name of its own, or one of another ending, or one that a manifest cannot hold.
    """
    from budget_opt.tables.reading import ending

    if table.name in ("", ".."):
        raise InputError(f"{table}: is a folder already, which is not overwritten. Give another name.")
    if not _is_text(table.name):
        raise InputError(
            f"{str(table)!r}: the name is not text in Unicode, and the manifest beside the table must "
            "name it. Choose another name."
        )
    if table.suffix:
        ending(table)


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def require_vacant(folder: Path, text: str, *, own: Path | None = None) -> None:
    """`InputError` where a folder holds something that is not this release's, or another allocation.

    That is a whole release, or what was left of one that was stopped: who is given the folder would have two
    noisy copies of the same records. `own` is what may be there.
    """
    from budget_opt.randomizer.resuming.waiting import waiting_in

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is not a folder. Choose another place.")
    waiting = waiting_in(folder)
    if (folder / MANIFEST).exists():
        hints = "".join(f" It holds {found} as well. {found.beside_a_release}" for found in waiting[:1])
        raise InputError(
            f"{folder / MANIFEST}: exists, so this folder holds a release already. Drawing again is "
            f"another release and costs again; if that is meant, choose another folder.{hints}"
        )
    for found in waiting:
        if found.workplace != own:
            raise InputError(f"{folder}: holds {found}. {found.ways_out}")
    for path in parts_in(folder) if folder.exists() else ():
        raise InputError(
            f"{path}: is left of a release that was stopped, or one is being made now, and would be "
            "passed on with this folder. Delete it where none is being made; or choose another folder."
        )
    beside = folder / ALLOCATION
    if beside.exists() and beside.read_bytes() != text.encode():
        raise InputError(f"{beside}: is another allocation. Choose another folder for the release.")


def require_place_inside(place: Place, *, may_exist: Callable[[Path], bool] = lambda path: False) -> None:
    """`InputError` where an internal report would be passed on, or lie in the place of another."""
    if place.internal is None:
        return
    if place.internal.resolve().is_relative_to(place.table.parent.resolve()):
        raise InputError(
            f"--internal {place.internal}: is in the folder of the release, which is passed on. "
            "Choose another one."
        )
    report = place.internal / VERIFICATION
    if report.exists() and not may_exist(report):
        raise InputError(f"{report}: exists, and could not be made again. Choose another folder.")


def manifest_beside(released: Path) -> dict[str, Any] | None:
    """The manifest in the folder of a released table, None where there is none of this table."""
    from budget_opt.model.documents import read_document

    path = released.parent / MANIFEST
    if not path.exists():
        return None
    document = read_document(path, "budget-opt/manifest", 1, InputError)
    return document if document.get("table") == released.name else None


def require_released_under(released: Path, allocation: Allocation, name: str) -> bool:
    """True where the manifest beside the table names this allocation; False where there is no manifest.

    `name` is what people call the allocation. Raises `InputError` where the manifest names another one:
    every estimate would be wrong.
    """
    document = manifest_beside(released)
    if document is None:
        return False
    if document.get("allocation_sha256") != digest_of(json_text(allocation.to_dict())):
        raise InputError(
            f"{released}: was released under another allocation than {name}, says the manifest "
            f"beside it. Use {released.parent / ALLOCATION}."
        )
    return True


def require_row_order(released: Path) -> None:
    """Raise `InputError` where the manifest says that the rows of a table were shuffled."""
    document = manifest_beside(released)
    if document is not None and document.get("row_order") != "public":
        raise InputError(
            f"{released}: its rows are shuffled, so it cannot be compared with the originals row by row. "
            "Verify while it is made: budget-opt randomize --internal DIR."
        )
