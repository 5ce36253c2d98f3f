"""Where a ledger lies: locks are only as good as the file system that keeps them."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile("nfs.*|cifs|smb.*|afs|9p|ceph|glusterfs|lustre|gpfs|beegfs|fuse[.].*|virtiofs|vboxsf")
_OCTAL = re.compile(r"\\([0-7]{3})")


def storage_note(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """A warning where the ledger lies on a file system of a network, as far as that is known.

    `mounts` is the system's table of file systems; where there is none (not Linux), nothing is known.
    """
    kind = _kind(path, mounts)
    if kind is None or not _NETWORK.fullmatch(kind):
        return None
    return (
        f"{path} lies on a file system of the kind {kind}, where locks may not keep two machines apart: use "
        "the ledger from one machine at a time, or keep it on a disk of this machine."
    )


def _kind(path: Path, mounts: Path) -> str | None:
    """The kind of the file system of a path: the last one that is mounted nearest above it."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place, found, longest = path.resolve(), None, -1
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        if len(fields) > 4:
            point = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4]))
            if place.is_relative_to(point) and len(point.parts) >= longest:
                found, longest = kind, len(point.parts)
    return found
