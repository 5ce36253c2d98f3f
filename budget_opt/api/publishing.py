"""A release as a folder that may leave the house: table, allocation, manifest (DESIGN 3.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.releasing import randomize_file
from budget_opt.errors import InputError
from budget_opt.model.documents import write_document, write_text

if TYPE_CHECKING:
    from budget_opt.randomizer.release import Release
    from budget_opt.verifier.release import ReleaseReport

ALLOCATION = "allocation.json"
MANIFEST = "manifest.json"
VERIFICATION = "verification.json"


@dataclass(frozen=True)
class Published:
    """What was written: the release, its manifest, and the internal report where one was asked for."""

    release: Release
    manifest: dict[str, Any]
    folder: Path
    report: ReleaseReport | None
    internal: Path | None

    def __str__(self) -> str:
        lines = [
            f"released {self.release.rows:,} rows, columns {', '.join(self.release.columns)}",
            f"to pass on: {self.release.table}, {self.folder / ALLOCATION}, {self.folder / MANIFEST}",
        ]
        if self.report is not None and self.internal is not None:
            verdict = f"{len(self.report.checks)} checks against the originals hold"
            lines.append(f"{verdict}; internal, do not pass on: {self.internal / VERIFICATION}")
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
) -> Published:
    """Release `data` under the allocation, with its manifest and a copy of the allocation beside it.

    With `place.internal` the release is verified against the originals, before its rows are shuffled
    and before it is there; the report goes into that folder. One folder holds one release: drawing
    again is another release and costs again. Raises what `randomize_file` raises, `InputError` where
    something would be overwritten, `VerificationError` where a check fails; then nothing is released.
    """
    from budget_opt.randomizer.files import FileOptions
    from budget_opt.randomizer.manifest import manifest
    from budget_opt.verifier.release import ReleaseJudge

    allocation = Allocation.read(allocation_path)
    text = allocation_path.read_bytes().decode("utf-8")
    folder = place.table.parent
    _require_free(folder, allocation_path, text, place)
    judge = None if place.internal is None else ReleaseJudge(allocation)
    reports: list[ReleaseReport] = []

    def verify() -> None:
        if judge is not None and place.internal is not None:
            reports.append(judge.report())
            place.internal.mkdir(parents=True, exist_ok=True)
            write_document(reports[0].to_dict(), place.internal / VERIFICATION)
            reports[0].require()

    options = FileOptions(
        row_order=row_order,
        progress=progress,
        on_batch=None if judge is None else judge.add,
        before_commit=verify,
    )
    release = randomize_file(data, allocation, place.table, options)
    written = [place.table]
    try:
        if not (folder / ALLOCATION).exists():
            write_text(text, folder / ALLOCATION)
            written.append(folder / ALLOCATION)
        document = manifest(release, hashlib.sha256(text.encode("utf-8")).hexdigest())
        write_document(document, folder / MANIFEST)
    except BaseException:
        for path in written:
            path.unlink()
        raise
    return Published(release, document, folder, reports[0] if reports else None, place.internal)


def _require_free(folder: Path, allocation_path: Path, text: str, place: Place) -> None:
    """Refuse to overwrite, and to lay an internal report where it would be passed on."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder. Make it first.")
    if (folder / MANIFEST).exists():
        raise InputError(
            f"{folder / MANIFEST}: exists, so this folder holds a release already. Drawing again is "
            "another release and costs again; if that is meant, choose another folder."
        )
    beside = folder / ALLOCATION
    if beside.exists() and not beside.samefile(allocation_path) and beside.read_bytes() != text.encode():
        raise InputError(f"{beside}: is another allocation. Choose another folder for the release.")
    if place.internal is not None and place.internal.resolve() == folder.resolve():
        raise InputError(
            f"--internal {place.internal}: is the folder of the release, whose files are passed on. "
            "Choose another one."
        )
