"""The journal of an unfinished release: what it is of, and how far it has come.

Nothing in it was computed from a cell, and the key is not in it. It is replaced as a whole, and carries
the SHA-256 of its own content. A journal that is truncated or edited is refused and never begun anew: the
same key would give the same cells the same reports, which is harmless, but only the journal says that data
and allocation are still the same. Without it, rows that somebody may have seen in the spool could be drawn
again under other circumstances, and nobody would know.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from budget_opt.errors import InputError
from budget_opt.randomizer.release import RowOrder
from budget_opt.randomizer.resuming.marks import Mark
from budget_opt.tables.private_files import told, write_private

FORMAT: Literal["budget-opt/unfinished-release"] = "budget-opt/unfinished-release"
VERSION: Literal[1] = 1

Stage = Literal["randomizing", "writing", "placing", "placed", "dropped"]
"""Nothing is at the target, until all rows are randomized, and while they are written; table and files beside
it are being put there; all are there; given up."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Circumstances(_Part):
    """What must be the same in every run of one release.

    `ledger` is the id of the ledger, `dataset` the data set in it that pays; None where nobody does.
    """

    target: str
    source: Mark
    allocation_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    row_order: RowOrder
    software: str
    ledger: str | None = None
    dataset: str | None = None


class Journal(_Part):
    """The first `rows` rows of the original are randomized in the first `length` bytes of the spool.

    `new_folders` are those that were made for the target, the outermost first; `report` is the path of the
    internal report, once it is being written. `charge` is the name under which the ledger has this release:
    it is here before there is a charge, so that no later run can make a second one. `drawing`, with
    a ledger, that the original has been read through and the charge made, so that words may have been drawn;
    `originals` is the keyed hash of its cells then.
    """

    circumstances: Circumstances
    stage: Stage = "randomizing"
    rows: Annotated[int, Field(ge=0)] = 0
    length: Annotated[int, Field(ge=0)] = 0
    new_folders: list[str] = []
    report: str | None = None
    charge: str | None = None
    drawing: bool = False
    originals: Annotated[str | None, Field(pattern="^[0-9a-f]{64}$")] = None

    def write(self, path: Path) -> None:
        """Put this journal in the place of the last one; `InputError` where it cannot be written."""
        content = {"format": FORMAT, "version": VERSION, **self.model_dump(mode="json")}
        write_private(json.dumps({**content, "sha256": _digest(content)}, indent=1).encode(), path)


def read_journal(path: Path) -> Journal:
    """The journal in a file; `InputError` where it is not as it was written."""
    try:
        content = json.loads(told(path, path.read_bytes))
        stated = content.pop("sha256")
        found = (content.pop("format"), content.pop("version"))
        if found == (FORMAT, VERSION) and stated == _digest(
            {"format": FORMAT, "version": VERSION, **content}
        ):
            return Journal.model_validate(content)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, ValidationError):
        pass
    raise InputError(
        f"{path}: the journal of the unfinished release is truncated, was edited, or is of another version "
        "of budget_opt, so what is done cannot be trusted. Restore it from a copy, or drop the release with "
        "--abandon and begin anew: nothing of it has left the house."
    )


def differences(then: Circumstances, now: Circumstances) -> list[str]:
    """Which circumstances differ, in words."""
    found = []
    if then.source.path != now.source.path:
        found.append(f"the original was {then.source.path}, is {now.source.path}")
    elif then.source != now.source:
        found.append(f"the original {now.source.path} was changed ({_change(then.source, now.source)})")
    if then.allocation_sha256 != now.allocation_sha256:
        found.append("the allocation is another one")
    found += [
        f"{name} was {before}, is {after}"
        for name, before, after in (
            ("the target", then.target, now.target),
            ("the order of rows", then.row_order, now.row_order),
            ("the software", then.software, now.software),
        )
        if before != after
    ]
    if _payer(then) != _payer(now):
        found.append(f"it was charged to {_payer(then)}, and would be to {_payer(now)}")
    return found


def _payer(circumstances: Circumstances) -> str:
    if circumstances.ledger is None:
        return "no ledger"
    return f"{circumstances.dataset!r} in the ledger {circumstances.ledger}"


def _change(then: Mark, now: Mark) -> str:
    if then.files != now.files:
        return f"it was of {then.files:,} file{'s' * (then.files > 1)}, is of {now.files:,}"
    if then.size != now.size:
        return f"it had {then.size:,} bytes, has {now.size:,}"
    return f"it has the same size, and another time of change; if nothing else was changed: {_restored(then)}"


def _restored(then: Mark) -> str:
    """How an original gets back the time that it had."""
    if Path(then.path).is_dir():
        return "give its files their times again, as cp -p or rsync -t from a copy do"
    seconds, rest = divmod(then.changed_ns, 10**9)
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"touch -d '{moment}.{rest:09d}Z' {shlex.quote(then.path)}"


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
