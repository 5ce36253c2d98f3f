"""A release as it lies in its folder: manifest, allocation and table, with the digest of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from budget_opt.allocation import Allocation
from budget_opt.errors import BudgetOptError, InputError
from budget_opt.model.documents import json_text, read_document

if TYPE_CHECKING:
    from budget_opt.tables.cell_digest import NewHash

CELLS = "cells of a release"
"""The purpose of the keyed hash of what was released."""

ALLOCATION, MANIFEST = "allocation.json", "manifest.json"


@dataclass(frozen=True)
class Cells:
    """The keyed digest of all cells of a table, and its number of rows."""

    digest: str
    rows: int


@dataclass(frozen=True)
class Released:
    """What a manifest says, and what was found beside it.

    `cells` has the digests that the table may have been recorded under, none where it has none; `fault` says
    why there is no digest: the table or the allocation is not there, or cannot be read as a release.
    `absent` is true where there is no table, so that nobody can say which release it is.
    """

    manifest: Path
    number: int
    allocation_sha256: str
    allocation: Allocation | None
    cells: Cells | None
    absent: bool
    fault: str


def read_released(manifest: Path, new_hash: NewHash) -> Released:
    """The release with this manifest; `InputError` for a file that is none.

    Its table is read whole, where it lies beside the manifest.
    """
    if manifest.is_dir():
        raise InputError(f"{manifest}: is a folder. Give the manifest in it: {manifest / MANIFEST}.")
    if manifest.suffix.lower() in (".csv", ".parquet", ".gz"):
        raise InputError(f"{manifest}: is a table. Give the manifest beside it: {MANIFEST}.")
    document = read_document(manifest, "budget-opt/manifest", 1, InputError)
    number, digest, name = (document.get(field) for field in ("release", "allocation_sha256", "table"))
    if type(number) is not int or not isinstance(digest, str) or not _is_name(name):
        raise InputError(f"{manifest}: does not say its release, allocation or table, so it is no manifest.")
    table = None if name is None else manifest.parent / name
    if table is None or not table.exists():
        return Released(manifest, number, digest, _allocation(manifest, digest), None, True, "")
    allocation = _allocation(manifest, digest)
    if allocation is None:
        fault = f"beside it is no {ALLOCATION} that it was released under, so that its table cannot be read"
        return Released(manifest, number, digest, None, None, False, fault)
    try:
        cells = cells_of(table, allocation, new_hash)
    except BudgetOptError as failure:
        fault = f"its table cannot be read as a release under its allocation ({failure})"
        return Released(manifest, number, digest, allocation, None, False, fault)
    return Released(manifest, number, digest, allocation, cells, False, "")


def cells_of(released: object, allocation: Allocation, new_hash: NewHash) -> Cells:
    """The digest of the cells of a released table, or of the one at a path; `DataError` where it is none."""
    from budget_opt.tables.cell_digest import CellDigest
    from budget_opt.tables.reading import open_table

    table = open_table(released)
    domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
    cells = CellDigest(domains, new_hash, text=table.text)
    for batch in table.batches(table.names):
        cells.add(batch)
    return Cells(cells.hexdigest(), cells.rows)


def _is_name(name: object) -> bool:
    """Whether it names a file of this folder, or says that the table was in memory."""
    return name is None or (isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name)


def _allocation(manifest: Path, digest: str) -> Allocation | None:
    """The allocation beside a manifest, None where there is none, or another one."""
    path = manifest.parent / ALLOCATION
    if not path.exists():
        return None
    found = Allocation.read(path)
    return found if sha256(json_text(found.to_dict()).encode()).hexdigest() == digest else None
