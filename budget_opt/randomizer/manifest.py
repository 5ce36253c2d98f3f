"""The manifest that goes out with a released table (DESIGN 3.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from budget_opt.randomizer.release import Release, RowOrder
from budget_opt.version import __version__

FORMAT: Literal["budget-opt/manifest"] = "budget-opt/manifest"
VERSION: Literal[1] = 1


class Manifest(BaseModel):
    """What a release is: nothing in it was computed from the originals but the public number of rows.

    `release` is the number of this release in its data set's ledger, from 1, and 1 where no ledger has it; a
    number that was given up is not given again. Every release costs its loss again. A ledger that does not
    know the number is an older copy (`budget-opt ledger check`). `private` is false where the random words
    were not secret.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["budget-opt/manifest"]
    version: Literal[1]
    allocation_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    table: Annotated[str | None, Field(description="the file's name, null for a table in memory")]
    columns: tuple[str, ...]
    rows: Annotated[int, Field(ge=0)]
    row_order: RowOrder
    release: Annotated[int, Field(ge=1)]
    software: str
    private: bool


def manifest(release: Release, allocation_sha256: str, *, number: int = 1) -> dict[str, Any]:
    """The manifest of a release, as it stands in manifest.json.

    `allocation_sha256` is of the bytes of the allocation file that lies beside it, in hexadecimal;
    `number` is that of the release in its data set's ledger. Raises `ValueError` (pydantic) for
    a hash that is none, or a number below 1.
    """
    return Manifest(
        format=FORMAT,
        version=VERSION,
        allocation_sha256=allocation_sha256,
        table=release.table.name if isinstance(release.table, Path) else None,
        columns=release.columns,
        rows=release.rows,
        row_order=release.row_order,
        release=number,
        software=f"budget-opt {__version__}",
        private=release.private,
    ).model_dump(mode="json")


def manifest_schema() -> dict[str, Any]:
    """JSON Schema of the manifest file (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Manifest.model_json_schema()}
