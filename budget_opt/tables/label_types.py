"""The type of a released column of labels, by Arrow's types (R12).

The law: it is a function of the declared domain and of the type that the original would have whatever
its cells are. So the original's type comes back, as wide as the declared labels need, unless the cells
may have chosen it: a column whose cells are all missing has no type of its own (Arrow's null, or what a
reader falls back to), and integers with a gap turn into double in pandas, from where they go to Arrow
and polars. Such a column gets the type that it would have had without: that of the declared labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from budget_opt.model.domain import Domain
from budget_opt.tables.encoding import Codes, index_type, label_type
from budget_opt.tables.types import exact_below


class Labels(NamedTuple):
    """A released column: the codes of its rows, and the domain that gives them their labels."""

    codes: Codes
    domain: Domain


_SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
_FLOATING = (pa.float16(), pa.float32(), pa.float64())
_TEXT = (pa.string(), pa.large_string(), pa.string_view())


def type_like(given: pa.DataType, domain: Domain) -> pa.DataType:
    """The type of the released labels of a column of type `given`; bins are a dictionary of their labels."""
    if domain.kind == "bins":
        return label_type(domain)
    if pa.types.is_dictionary(given):
        return pa.dictionary(
            _index_like(given.index_type, domain), type_like(given.value_type, domain), given.ordered
        )
    if domain.kind == "text":
        return given if given in _TEXT else pa.string()
    if domain.kind == "boolean":
        return pa.bool_()
    if given == pa.float64() and domain.missing is not None:
        return pa.int64()
    return number_type(given, domain)


def number_type(given: pa.DataType, domain: Domain) -> pa.DataType:
    """The given integer or floating type, or the next that holds the declared integers; else int64.

    Where `other` takes unseen values uint64 is int64: one cell above 2^63 makes the difference.
    """
    if given == pa.uint64() and domain.other is not None:
        given = pa.int64()
    labels = [label for label in domain.labels if isinstance(label, int)]
    return next((wider for wider in _from(given) if _holds(wider, labels)), pa.int64())


def _from(given: pa.DataType) -> Sequence[pa.DataType]:
    """The number types from the given one up, those of its own kind first."""
    for kind in (_SIGNED, _UNSIGNED, _FLOATING):
        if given in kind:
            return (*kind[kind.index(given) :], *(_SIGNED if kind is _UNSIGNED else ()))
    return ()


def _holds(given: pa.DataType, labels: Sequence[int]) -> bool:
    if given in _FLOATING:
        return max(map(abs, labels)) < exact_below(given)
    bits = given.bit_width
    low, high = (0, 2**bits - 1) if given in _UNSIGNED else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return low <= min(labels) and max(labels) <= high


def _index_like(given: pa.DataType, domain: Domain) -> pa.DataType:
    """The index type, or the next that holds the places of the labels.

    Where `other` takes unseen values their number may have chosen it: then it is the domain's own.
    """
    places = domain.cardinality - (domain.missing is not None)
    if domain.other is not None:
        return index_type(places)
    return next((wider for wider in _from(given) if _holds(wider, (0, places - 1))), index_type(places))
