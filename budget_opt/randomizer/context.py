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


def report_context(name: str, domain: Domain, sampler: Sampler) -> bytes:
    """The context of an attribute's words: format, mechanism, attribute, ordered categories, b and q."""
    return encoded((*_FORMAT, "randomized response", name, *_categories(domain), sampler.bits, sampler.q))


def blind_context(name: str, domain: Domain) -> bytes:
    """The context of the words of an attribute that is reported without looking at it."""
    return encoded((*_FORMAT, "uniform report", name, *_categories(domain)))


def row_order_context() -> bytes:
    """The context of the words that shuffle the rows."""
    return encoded((*_FORMAT, "row order"))


def _categories(domain: Domain) -> tuple[Field, ...]:
    return domain.kind, domain.labels
