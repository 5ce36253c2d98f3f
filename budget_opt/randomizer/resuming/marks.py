"""How an original is known again without reading it: path, size, and when it was last changed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from budget_opt.errors import DataError


class Mark(BaseModel):
    """An original as it was: `files` (1 for a file, more for a folder), their bytes, the latest change (ns).

    `listing_sha256` is of the names, sizes and times of all files; nothing here was read in them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    path: str
    files: int
    size: int
    changed_ns: int
    listing_sha256: str


def mark_of(source: Path) -> Mark:
    """The mark of a file, or of a folder with all files in it; `DataError` where there is none."""
    path = source.resolve()
    try:
        listed = sorted(_listed(path))
    except OSError as failure:
        raise DataError(f"{source}: cannot be read ({failure.strerror}). Give a table to read.") from None
    lines = "".join(f"{name}\0{size}\0{changed}\n" for name, size, changed in listed)
    return Mark(
        path=str(path),
        files=len(listed),
        size=sum(size for _, size, _ in listed),
        changed_ns=max((changed for _, _, changed in listed), default=0),
        listing_sha256=hashlib.sha256(os.fsencode(lines)).hexdigest(),
    )


def _listed(path: Path) -> list[tuple[str, int, int]]:
    if not path.is_dir():
        status = path.stat()
        return [("", status.st_size, status.st_mtime_ns)]
    found = [file for file in path.rglob("*") if file.is_file()]
    statuses = [(file.relative_to(path).as_posix(), file.stat()) for file in found]
    return [(name, status.st_size, status.st_mtime_ns) for name, status in statuses]
