"""The system's lock on an open file, which ends with the process that has it."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt

    def take(handle: int) -> None:
        """Lock this open file for this process; `BlockingIOError` or `PermissionError` where it is taken."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def take(handle: int) -> None:
        """Lock this open file for this process; `BlockingIOError` or `PermissionError` where it is taken."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
