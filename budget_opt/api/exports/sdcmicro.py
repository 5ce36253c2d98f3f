"""An R script with the transition matrices, and a call of sdcMicro's `pram` with each.

What pram asks of a matrix (sdcMicro, R/pram.R: checkMat and calcTransitionMatrix): row and column names
identical to the factor's levels in their order, and |rowSums - 1| <= .Machine$double.eps. It leaves NA as it
is, so a missing category is a level of its own here; it pastes column names into code that it evaluates, so
it is given one factor at a time and never a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from budget_opt.allocation import Allocation
from budget_opt.api.exports.labels import as_text, unused
from budget_opt.api.exports.released import Released, require_small
from budget_opt.errors import InputError
from budget_opt.mechanisms.doubles import other_in_units
from budget_opt.model.domain import Kind
from budget_opt.version import __version__

MISSING = "(missing)"
_HELD: dict[Kind, str] = {"text": "text", "integer": "numbers", "bins": "numbers", "boolean": "truth values"}
"""What R may have made of the cells of each kind of category, besides text."""
NOTE = "R's generator is not cryptographic: the script reproduces the matrices, not the guarantee"


def content(allocation: Allocation, attributes: Sequence[Released], _: str) -> tuple[bytes, tuple[str, ...]]:
    """The script, and what to say of it; raises `InputError` where doubles cannot hold a matrix."""
    require_small(attributes)
    listed = ",\n".join(map(_attribute, attributes))
    parts = [
        f"# The transition matrices of {r_text(allocation.name)}, written by budget-opt {__version__}.",
        _part("sdcmicro_head.R"),
        f"budget_opt_attributes <- list(\n{listed}\n)\n",
        f"budget_opt_public <- {_vector(map(r_text, allocation.public))}\n",
        _part("sdcmicro_tail.R"),
    ]
    notes = [NOTE, "sdcMicro is on CRAN; the matrices themselves need only R"]
    return "\n".join(parts).encode("ascii"), tuple(notes)


def _part(name: str) -> str:
    """A part of the script that is the same for all, from the file beside this one."""
    return files("budget_opt.api.exports").joinpath(name).read_text(encoding="ascii")


def _attribute(one: Released) -> str:
    """One element of the list of attributes."""
    declared = as_text(label for label in one.domain.labels if label is not None)
    missing = None if one.domain.missing is None else unused(MISSING, declared)
    labels = declared if missing is None else [*declared, missing]
    units = other_in_units(one.sampler)
    if units is None:
        raise InputError(
            f"{one.name}: epsilon {one.epsilon!r} is too small for R's doubles: its matrix would be uniform. "
            "Give it more, or use budget-opt randomize."
        )
    edges, other = one.domain.edges, one.domain.other
    fields = [
        f"name = {r_text(one.name)}",
        f"held = {r_text(_HELD[one.domain.kind])}",
        f"labels = {_vector(map(r_text, labels))}",
        f"missing = {'NULL' if missing is None else r_text(missing)}",
        f"unseen = {'NULL' if other is None else r_text(labels[other])}",
        f"edges = {'NULL' if edges is None else _vector(map(r_number, edges))}",
        f"units = {units}",
    ]
    return "  list(\n    " + ",\n    ".join(fields) + "\n  )"


def _vector(items: Iterable[str]) -> str:
    listed = list(items)
    return f"c({', '.join(listed)})" if listed else "character(0)"


def r_text(text: str) -> str:
    r"""A string of R in ASCII: quotes and backslashes escaped, anything else as \uXXXX or \UXXXXXXXX."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    code = ord(character)
    if 32 <= code < 127:
        return character
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def r_number(number: float) -> str:
    """A double of R to its last bit: decimals are not read to the last bit on every platform."""
    if number in (float("inf"), float("-inf")):
        return "Inf" if number > 0 else "-Inf"
    return number.hex()
