"""An R script with the transition matrices, and a call of sdcMicro's `pram` with each.

What pram asks of a matrix (sdcMicro, R/pram.R: checkMat and calcTransitionMatrix): row and column names
identical to the factor's levels in their order, and |rowSums - 1| <= .Machine$double.eps. It leaves NA as it
is, so a missing category is a level of its own here; it pastes column names into code that it evaluates, so
it is given one factor at a time and never a name. A cluster is one factor, of its members' levels pasted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from budget_opt.allocation import Allocation
from budget_opt.api.exports.labels import named, separator_for
from budget_opt.api.exports.released import Released, read_domain, require_small
from budget_opt.errors import InputError
from budget_opt.mechanisms.doubles import counts_in_units
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.attribute import Attribute
from budget_opt.model.domain import Kind
from budget_opt.version import __version__

_HELD: dict[Kind, str] = {"text": "text", "integer": "numbers", "bins": "numbers", "boolean": "truth values"}
"""What R may have made of the cells of each kind of category, besides text."""
NOTE = "R's generator is not cryptographic: the script reproduces the matrices, not the guarantee"


def content(allocation: Allocation, blocks: Sequence[Released], _: str) -> tuple[bytes, tuple[str, ...]]:
    """The script, and what to say of it; raises `InputError` where doubles cannot hold a matrix."""
    require_small(blocks)
    columns = ",\n".join(_column(member) for one in blocks for member in one.members)
    variables = ",\n".join(map(_variable, blocks))
    parts = [
        f"# The transition matrices of {r_text(allocation.name)}, written by budget-opt {__version__}.",
        _part("sdcmicro_head.R"),
        f"budget_opt_attributes <- list(\n{columns}\n)\n",
        f"budget_opt_variables <- list(\n{variables}\n)\n",
        f"budget_opt_public <- {_vector(map(r_text, allocation.public))}\n",
        _part("sdcmicro_tail.R"),
    ]
    notes = [NOTE, "sdcMicro is on CRAN; the matrices themselves need only R"]
    joint = [one.name for one in blocks if one.is_cluster]
    if joint:
        notes.append(f"one pasted variable each, which the script makes and takes apart: {', '.join(joint)}")
    return "\n".join(parts).encode("ascii"), tuple(notes)


def _part(name: str) -> str:
    """A part of the script that is the same for all, from the file beside this one."""
    return files("budget_opt.api.exports").joinpath(name).read_text(encoding="ascii")


def _column(attribute: Attribute) -> str:
    """One element of the list of attributes: how its cells are read, and what a report may be."""
    domain, read = attribute.domain, read_domain(attribute)
    cells, missing = named(read.labels)
    labels, empty = named(domain.labels)
    fields = [
        f"name = {r_text(attribute.name)}",
        f"held = {r_text(_HELD[read.kind])}",
        f"labels = {_vector(map(r_text, labels))}",
        f"missing = {'NULL' if read.missing is None else r_text(missing)}",
        f"empty = {'NULL' if domain.missing is None else r_text(empty)}",
        f"unseen = {'NULL' if read.other is None else r_text(cells[read.other])}",
        f"edges = {'NULL' if read.edges is None else _vector(map(r_number, read.edges))}",
        f"cells = {_vector(map(r_text, cells))}",
        f"codes = {'NULL' if read is domain else _vector(str(code + 1) for code in domain.codes)}",
    ]
    return _list(fields)


def _variable(one: Released) -> str:
    """One element of the list of variables: an attribute's own column, or those of a cluster pasted."""
    if isinstance(one.sampler, MatrixSampler):
        raise InputError(
            f"{one.name}: its matrix was chosen for a known source, and the script draws from a background. "
            "Export its matrix (--to matrices), use budget-opt randomize, or remove its source."
        )
    units = counts_in_units(one.sampler)
    if units is None:
        raise InputError(
            f"{one.name}: epsilon {one.epsilon!r} is too small for R's doubles: its matrix would say nothing "
            "of the truth. Give it more, or use budget-opt randomize."
        )
    separator = separator_for([named(member.domain.labels)[0] for member in one.members])
    stated = units[:1] if isinstance(one.sampler, Sampler) else units
    fields = [
        f"name = {r_text(one.name)}",
        f"members = {_vector(map(r_text, one.block.names))}",
        f"separator = {r_text(separator)}",
        f"units = {_vector(map(str, stated))}",
    ]
    return _list(fields)


def _list(fields: Sequence[str]) -> str:
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
