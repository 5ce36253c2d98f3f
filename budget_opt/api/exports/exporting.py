"""The verb `bo.export`: the matrices of an allocation in a form that another anonymizer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.exports.released import Content, released_of
from budget_opt.errors import InputError


@dataclass(frozen=True)
class Kind:
    """One kind of export: the module whose `content` makes it, and the endings that its files may have."""

    module: str
    endings: tuple[str, ...]


To = Literal["opendp", "sdcmicro", "matrices"]
KINDS: Mapping[str, Kind] = {
    "opendp": Kind("budget_opt.api.exports.opendp", (".json",)),
    "sdcmicro": Kind("budget_opt.api.exports.sdcmicro", (".R", ".r")),
    "matrices": Kind("budget_opt.api.exports.matrices", (".npz", ".csv")),
}
"""The kinds by the word that people type."""


@dataclass(frozen=True)
class Exported:
    """What was written: for which attributes, each a column of the release, and what its reader must know."""

    path: Path
    to: str
    attributes: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        plain = {name: list(value) for name, value in vars(self).items() if isinstance(value, tuple)}
        return {"written": str(self.path), "to": self.to, **plain}

    def __str__(self) -> str:
        lines = [f"written: {self.path}, for {', '.join(self.attributes)}"]
        if self.left_out:
            lines.append(f"left out, nothing of them may be reported: {', '.join(self.left_out)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def export(allocation: Allocation, to: To, path: str | Path) -> Exported:
    """Write the matrices of an allocation for another anonymizer, to a new file.

    `to` is "opendp" (.json: one serialized mechanism an attribute, whose OpenDP map accepts the allocation's
    epsilon, and the composition of all on one record its total), "sdcmicro" (.R: the transition matrices and
    a call of `pram` with them), or "matrices" (.npz or .csv: the doubles nearest to them). A cluster is one
    variable there, with joint categories. Attributes without a sampler (epsilon 0, or below what any width
    implements) are left out: a column of pure noise misleads.
    What another anonymizer draws is as private as its own generator and code; `verify_release` checks it.
    Raises `InputError` for another word or ending, where the file exists or cannot be written, and
    where the other software cannot do what is asked; `VerificationError` for an allocation that overspends.
    """
    from budget_opt.api.arguments import require, require_path
    from budget_opt.model.documents import write_bytes
    from budget_opt.verifier.static import verify_privacy

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    kind = _kind(to)
    path = require_path(path, "path")
    if path.suffix not in kind.endings:
        raise InputError(f"{path}: must end in {' or '.join(kind.endings)} for {to}. Choose such a name.")
    verify_privacy(allocation).require()
    released = released_of(allocation)
    if not released:
        raise InputError("allocation: every attribute has epsilon 0, so there is nothing to export.")
    make: Content = import_module(kind.module).content
    content, notes = make(allocation, released, path.suffix)
    write_bytes(content, path, new=True)
    columns = {name for one in released for name in one.block.names}
    names = tuple(one.name for one in allocation.attributes if one.name in columns)
    left_out = tuple(one.name for one in allocation.attributes if one.name not in columns)
    return Exported(path, to, names, left_out, notes)


def _kind(to: object) -> Kind:
    if isinstance(to, str) and to in KINDS:
        return KINDS[to]
    raise InputError(f"to: is {to!r}, must be one of {', '.join(KINDS)}.")
