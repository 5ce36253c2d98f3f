"""Which files a command may replace: its own results, never a problem or a table of data."""

from __future__ import annotations

import json
from pathlib import Path

from budget_opt.allocation.schema import FORMAT as ALLOCATION_FORMAT
from budget_opt.errors import InputError


def require_replaceable(output: Path) -> None:
    """Only an allocation may be replaced by an allocation: not a problem, and no table."""
    if not output.parent.is_dir():
        raise InputError(f"--output: {output.parent} is not a folder. Make it first, or choose another.")
    if not output.exists():
        return
    try:
        stated = json.loads(output.read_bytes()).get("format")
    except (OSError, ValueError, AttributeError):
        stated = None
    if stated != ALLOCATION_FORMAT:
        raise InputError(f"-o {output}: exists and is not an allocation. Choose another name.")


def require_replaceable_table(output: Path, heading: str, what: str) -> None:
    """Only a .csv that begins with this `heading` may be replaced by one; `what` is its name for people."""
    if output.suffix.lower() != ".csv":
        raise InputError(f"-o {output}: must end in .csv. Choose such a name; --json prints everything.")
    if not output.parent.is_dir():
        raise InputError(f"--output: {output.parent} is not a folder. Make it first, or choose another.")
    try:
        ours = output.read_bytes().startswith(heading.encode()) if output.exists() else True
    except OSError:
        ours = False
    if not ours:
        raise InputError(f"-o {output}: exists and is not {what}. Choose another name.")
