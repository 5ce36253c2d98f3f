"""A release that is there already: asked for again it is told of, and nothing is drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budget_opt.api.releasing.publishing import (
    ALLOCATION,
    MANIFEST,
    VERIFICATION,
    Place,
    Published,
    digest_of,
    manifest_beside,
)
from budget_opt.errors import InputError
from budget_opt.model.documents import read_document

if TYPE_CHECKING:
    from budget_opt.randomizer.release import RowOrder


def completed(place: Place, text: str, row_order: RowOrder) -> Published | None:
    """The release to this place under the allocation of this text; None where it is not there as a whole.

    Its manifest must name the table, the allocation and the order of rows, and be one of this version;
    the original is not asked for, which may be gone. Raises `InputError` for a manifest that cannot be read.
    """
    document = manifest_beside(place.table)
    if document is None or not place.table.exists():
        return None
    beside = place.table.with_name(ALLOCATION)
    asked = {"allocation_sha256": digest_of(text), "row_order": row_order}
    if not document.items() >= asked.items() or not beside.exists() or beside.read_bytes() != text.encode():
        return None
    return published_before(place.table)


def published_before(table: Path) -> Published:
    """What the manifest beside a released table says of it; `InputError` where it cannot be read."""
    from pydantic import ValidationError

    from budget_opt.randomizer.manifest import Manifest
    from budget_opt.randomizer.release import Release

    path = table.parent / MANIFEST
    document: dict[str, Any] = read_document(path, "budget-opt/manifest", 1, InputError)
    try:
        said = Manifest.model_validate(document)
    except ValidationError:
        raise InputError(
            f"{path}: is not as it was written, so what {table} is cannot be told. Restore it from a copy."
        ) from None
    release = Release(table, said.columns, said.rows, said.row_order, said.private)
    return Published(release, document, table.parent, None, None, before=True)


def said_of_report(place: Place, text: str) -> str:
    """Whether the internal report of a release that is complete is where it is asked for, in words."""
    if place.internal is None:
        return ""
    path = place.internal / VERIFICATION
    of_it = {"released": place.table.name, "allocation_sha256": digest_of(text)}
    try:
        report = json.loads(path.read_bytes())
    except (OSError, ValueError):
        report = None
    if isinstance(report, dict) and report.items() >= of_it.items():
        return f"; its internal report is {path}, do not pass that on"
    return f"; {path} is no report of it, and none can be made now: that is done while a release is made"
