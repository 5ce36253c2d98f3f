"""The name of a stream of words: equal names mean equal words, any other parameter other words (DESIGN 2.8).

A context is a list of fields in an encoding that can be read back, so that no two lists share one:
every field is a tag for its type, the length of its content as eight bytes, and the content; a list's
content is its fields one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from budget_opt.mechanisms.sampler import Sampler
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


def report_purpose(name: str, domain: Domain, sampler: Sampler | None) -> tuple[Field, ...]:
    """What an attribute's words are for: mechanism, attribute, ordered categories with types, b and q.

    Without a sampler: the words of an attribute that is reported without looking at it.
    """
    if sampler is None:
        return ("uniform report", name, domain.kind, domain.labels)
    return ("randomized response", name, domain.kind, domain.labels, sampler.bits, sampler.q)


def single_use_context(purpose: Sequence[Field]) -> bytes:
    """The context of words under a key of one release."""
    return encoded((*_FORMAT, *purpose))


def keyed_context(data: str, number: int, row_id: str | None, purpose: Sequence[Field]) -> bytes:
    """The context of words under a key that is kept: also data set, release, and how rows are named."""
    naming = ("position",) if row_id is None else ("id", row_id)
    return encoded((*_FORMAT, "keyed", data, number, naming, purpose))
