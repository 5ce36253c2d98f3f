"""A ledger on a network's file system is used with a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from budget_opt.ledger.storage import storage_note

MOUNTS = """\
21 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:21 / /home rw,relatime shared:2 - nfs4 server:/home rw
23 22 0:22 / /home/me/my\\040disk rw - ext4 /dev/sdb1 rw
24 21 0:23 / /mnt/s rw - fuse.sshfs me@host:/ rw
25 21 0:24 / /mnt/t rw - nfs server:/t rw
26 21 0:25 / /mnt/t rw - xfs /dev/sdc1 rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/ledger.db", None),
        ("/home/me/ledger.db", "nfs4"),
        ("/home/me/my disk/ledger.db", None),
        ("/homes/ledger.db", None),
        ("/mnt/s/ledger.db", "fuse.sshfs"),
        ("/mnt/t/ledger.db", None),
    ],
)
def test_a_network_is_told_by_the_last_file_system_that_is_mounted_above_the_ledger(
    tmp_path: Path, path: str, kind: str | None
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    found = storage_note(Path(path), mounts)
    if kind is None:
        assert found is None
    else:
        assert f"of the kind {kind}" in found
        assert "use the ledger from one machine at a time" in found


def test_where_nothing_is_known_nothing_is_said(tmp_path: Path) -> None:
    assert storage_note(tmp_path / "ledger.db", tmp_path / "no table") is None
