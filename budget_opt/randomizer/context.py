"""The name of a stream of words: equal names mean equal words, any other parameter other words (DESIGN 2.8).

A context is a list of fields in an encoding that can be read back, so that no two lists share one:
every field is a tag for its type, the length of its content as eight bytes, and the content; a list's
content is its fields one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.domain import Domain

Field: TypeAlias = "str | int | bool | Sequence[Field] | None"

_FORMAT = ("budget-opt/words", 1)

ROW_ORDER = ("row order",)
"""The purpose of the words that shuffle the rows of a single-use release."""


def encoded(field: Field) -> bytes:
    """The field in bytes: injective, types included (1, "1", True and ["1"] all differ)."""
    tag, content = _tagged(field)
    return tag + len(content).to_bytes(8, "big") + content


def _tagged(field: Field) -> tuple[bytes, bytes]:
    if field is None:
        return b"n", b""
    if isinstance(field, bool):
        return b"b", b"1" if field else b"0"
    if isinstance(field, int):
        return b"i", str(field).encode("ascii")
    if isinstance(field, str):
        return b"t", field.encode("utf-8", "surrogatepass")
    return b"l", b"".join(encoded(item) for item in field)


def report_purpose(
    members: Sequence[tuple[str, Domain]],
    sampler: AnySampler | None,
    background: Sequence[int] | None = None,
) -> tuple[Field, ...]:
    """What a block's words are for: mechanism, members with their ordered categories and types, integers.

    `members` are the names and domains of an attribute alone, or of a cluster in the order of its joint code.
    Without a sampler: the words of a block that is reported without looking at it, from its background (whole
    weights, None for the uniform one).
    """
    told = [(name, *domain.identity) for name, domain in members]
    # a cluster's members are a list, where an attribute has its name
    what: tuple[Field, ...] = told[0] if len(told) == 1 else (told,)
    if isinstance(sampler, MatrixSampler):
        return ("source matrix", *what, sampler.bits, sampler.counts)
    if sampler is not None:
        counts = sampler.q if isinstance(sampler, Sampler) else sampler.counts
        return ("randomized response", *what, sampler.bits, counts)
    return ("uniform report", *what) if background is None else ("background report", *what, background)


def single_use_context(purpose: Sequence[Field]) -> bytes:
    """The context of words under a key of one release."""
    return encoded((*_FORMAT, *purpose))


def keyed_context(data: str, number: int, row_id: str | None, purpose: Sequence[Field]) -> bytes:
    """The context of words under a key that is kept: also data set, release, and how rows are named."""
    naming = ("position",) if row_id is None else ("id", row_id)
    return encoded((*_FORMAT, "keyed", data, number, naming, purpose))
