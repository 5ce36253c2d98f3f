"""What a number, a name, a label, a list of categories may be: checked with the standard library alone.

Every check refuses what a field does not mean (a boolean is not a number, text is not a number, NaN and
infinity are nothing) and says the limit. The fields of the file formats are made of these checks
(`fields`); where only numpy is installed they are called as they are.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from budget_opt.mechanisms.exact import exact

LARGEST_EPSILON = 1e4
SMALLEST_EPSILON = 1e-300
SMALLEST_RETENTION = 1e-12
"""No sampler implements much less, and nobody could notice it."""
LARGEST_CARDINALITY = 10**6
MAX_CELLS = 64
"""Joint categories of a cluster that `design` may choose where nobody says how many."""
LARGEST_INTEGER = 2**53 - 1
"""Canonical JSON (RFC 8785) has no larger ones."""
LARGEST_NUMBER = 1e100
MOST_OF_ONE = 1_000_000
"""Records of one person, and waves."""


class UnfitError(ValueError):
    """A value that a field cannot take: the limit that is missed, and the way out without its full stop."""

    def __init__(self, limit: str, remedy: str) -> None:
        super().__init__(limit)
        self.limit, self.remedy = limit, remedy


def real(value: object, what: str, remedy: str) -> float:
    """`value` as a finite double; a Decimal must survive the conversion exactly."""
    if type(value) is float and math.isfinite(value):
        return value + 0.0  # what nearly every number of a file is
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise UnfitError(f"must be {what}", remedy)
    try:
        number = float(value) + 0.0  # -0.0 becomes 0.0
    except (OverflowError, ValueError):  # a huge integer, a signaling NaN
        number = math.nan
    if not math.isfinite(number):
        raise UnfitError(f"must be {what}, and finite", remedy)
    if isinstance(value, Decimal) and exact(number) != Fraction(value):
        raise UnfitError(f"must be {what} that a double can carry", "Round it to at most 15 digits")
    return number


def budget(value: object) -> float:
    """An epsilon in nats, which may be 0."""
    what, remedy = "0 or a number of nats from 1e-300 to 10000", "Give epsilon in nats, or remove the field"
    number = real(value, what, remedy)
    if not is_budget(number):
        raise UnfitError(f"must be {what}", remedy)
    return number


def is_budget(number: float) -> bool:
    """Whether a finite number is an epsilon: 0, or one that all computations are made for."""
    return number == 0 or SMALLEST_EPSILON <= number <= LARGEST_EPSILON


def name(value: object) -> str:
    """The name of a column, an attribute, a group."""
    if not isinstance(value, str) or not value.strip() or value != value.strip() or not value.isprintable():
        raise UnfitError(
            "must be text that is not blank, without blanks at its ends or control characters",
            "Give the name as it stands in the table's header",
        )
    return str(value)  # numpy's text is text of its own type


def rows_of_one(value: object) -> int:
    """The most records that one person may have."""
    return count(value, MOST_OF_ONE, "Give the most rows that one person may have, for instance 3")


def waves(value: object) -> int:
    """A number of planned releases of the same people."""
    return count(value, MOST_OF_ONE, "Give the number of planned releases of the same people, for instance 1")


def count(value: object, most: int, remedy: str) -> int:
    """An integer from 1 to `most`."""
    value = unboxed(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise UnfitError(f"must be an integer from 1 to {most:,}", remedy)
    return value


def unboxed(value: Any) -> object:
    """A numpy scalar or array without axes as Python's own value, anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def label(value: object) -> str | int | bool:
    """A category label, kept with its type; numpy scalars become Python's."""
    if isinstance(value, str):
        if not value.isprintable() or not value:
            raise UnfitError(
                "must be text that is not empty, without control characters",
                'For missing answers use "missing": "category" instead of an empty label',
            )
        return str(value)
    value = unboxed(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return value
    raise UnfitError(
        "must be text, an integer below 2^53 in size, or a boolean",
        "Write other numbers as text, or use bins",
    )


def categories(value: object) -> int | tuple[str | int | bool, ...]:
    """Ordered labels, or their number."""
    remedy = "Give the ordered list of labels, or their number for codes 0..r-1"
    value = unboxed(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 2 <= value <= LARGEST_CARDINALITY:
            raise UnfitError("must be from 2 to 1,000,000 categories", remedy)
        return value
    listed = items_of(value, "must be a list of labels or their number", remedy)
    labels = tuple(label(item) for item in listed)
    if not 2 <= len(labels) <= LARGEST_CARDINALITY:
        raise UnfitError("must have from 2 to 1,000,000 categories", remedy)
    if len({type(item) for item in labels}) > 1:
        raise UnfitError(
            "must have labels of one type, all text, all integers or all booleans",
            "Write labels that mix words and numbers as text, in quotes",
        )
    if len(set(labels)) < len(labels):
        raise UnfitError("must have distinct labels", "Remove the repeated label")
    return labels


def edges(value: object) -> tuple[float | None, ...]:
    """Increasing edges of bins, None at an end that is open."""
    remedy = "Give increasing edges, for instance [18, 30, 45, null]; null at an end leaves it open"
    limit = "must be a list of at least three edges (two bins)"
    listed = items_of(value, limit, remedy)
    if len(listed) < 3:
        raise UnfitError(limit, remedy)
    if any(edge is None for edge in listed[1:-1]):
        raise UnfitError("may be open (null) only at its two ends", remedy)
    found = tuple(None if edge is None else real(edge, "a list of numbers", remedy) for edge in listed)
    inner = [edge for edge in found if edge is not None]
    if any(abs(edge) > LARGEST_NUMBER for edge in inner):
        raise UnfitError("must have edges up to 1e100 in size", remedy)
    if len(found) > LARGEST_CARDINALITY + 1 or any(a >= b for a, b in pairwise(inner)):
        raise UnfitError("must have increasing edges, at most 1,000,001", remedy)
    return found


def items_of(value: Any, limit: str, remedy: str) -> list[Any]:
    """The items of a list, tuple, array or other ordered collection; else `UnfitError` with these words."""
    if isinstance(value, str | bytes | Mapping | set | frozenset) or not hasattr(value, "__iter__"):
        raise UnfitError(limit, remedy)
    return list(value)
