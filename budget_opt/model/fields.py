"""Checked field types of the file formats: numbers, names and labels, each with its limit in words.

Every type refuses what it does not mean (a boolean is not a number, text is not a number, NaN and
infinity are nothing) and says the limit; `FaultOf` carries limit and remedy through pydantic.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from budget_opt.mechanisms.exact import exact

LARGEST_EPSILON = 1e4
SMALLEST_EPSILON = 1e-300
SMALLEST_RETENTION = 1e-12
"""No sampler implements much less, and nobody could notice it."""
LARGEST_CARDINALITY = 10**6
LARGEST_INTEGER = 2**53 - 1
"""Canonical JSON (RFC 8785) has no larger ones."""
LARGEST_NUMBER = 1e100
LOWEST_LEVEL = 100


def fault(limit: str, remedy: str) -> PydanticCustomError:
    """The error of a validator: the limit that is missed and the way out."""
    return PydanticCustomError("fault", "{limit}", {"limit": limit, "remedy": remedy})


def real(value: object, what: str, remedy: str) -> float:
    """`value` as a finite double; a Decimal must survive the conversion exactly."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise fault(f"must be {what}", remedy)
    try:
        number = float(value) + 0.0  # -0.0 becomes 0.0
    except (OverflowError, ValueError):  # a huge integer, a signaling NaN
        number = math.nan
    if not math.isfinite(number):
        raise fault(f"must be {what}, and finite", remedy)
    if isinstance(value, Decimal) and exact(number) != Fraction(value):
        raise fault(f"must be {what} that a double can carry", "Round it to at most 15 digits")
    return number


def _number(
    what: str, remedy: str, holds: Callable[[float], bool], schema: Mapping[str, Any]
) -> tuple[BeforeValidator, WithJsonSchema]:
    def check(value: object) -> float:
        number = real(value, what, remedy)
        if not holds(number):
            raise fault(f"must be {what}", remedy)
        return number

    return BeforeValidator(check), WithJsonSchema({"type": "number", **schema})


_BUDGET = "0 or a number of nats from 1e-300 to 10000"
_budget_schema = {"minimum": 0, "maximum": LARGEST_EPSILON}


def _is_budget(number: float) -> bool:
    return number == 0 or SMALLEST_EPSILON <= number <= LARGEST_EPSILON


Budgeted = Annotated[
    float, *_number(_BUDGET, "Give epsilon in nats, or remove the field", _is_budget, _budget_schema)
]
"""An epsilon that may be 0."""

PositiveBudget = Annotated[
    float,
    *_number(
        "a number of nats from 1e-300 to 10000",
        "Give the budget of one record in nats, for instance 2.0",
        lambda number: number > 0 and _is_budget(number),
        {"exclusiveMinimum": 0, "maximum": LARGEST_EPSILON},
    ),
]
"""An epsilon above 0."""

Weight = Annotated[
    float,
    *_number(
        "0 or a number from 1e-100 to 1e100",
        "Give a weight >= 0; 0 takes the moment out of the objective",
        lambda number: number == 0 or 1e-100 <= number <= 1e100,
        {"minimum": 0, "maximum": 1e100},
    ),
]


def _level(value: object) -> int:
    value = _unboxed(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LOWEST_LEVEL:
        raise fault(
            f"must be an integer from 1 to {LOWEST_LEVEL}", "Give 1 to what matters most, then 2, 3, …"
        )
    return value


Level = Annotated[
    int,
    BeforeValidator(_level),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LOWEST_LEVEL}),
]
"""A priority: 1 before 2 before 3."""

PositiveNumber = Annotated[
    float,
    *_number(
        "a number from 1e-100 to 1e100",
        "Give a positive number, or remove the field (1 is meant then)",
        lambda number: 1e-100 <= number <= 1e100,
        {"exclusiveMinimum": 0, "maximum": 1e100},
    ),
]

Retention = Annotated[
    float,
    *_number(
        "a retention above 0 and below 1 (at least 1e-12 from both)",
        "A retention of 1 needs infinite epsilon; give a share such as 0.3, or remove the field",
        lambda number: SMALLEST_RETENTION <= number <= 1 - SMALLEST_RETENTION,
        {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
    ),
]

Number = Annotated[
    float,
    *_number(
        "a number up to 1e100 in size",
        "Give a finite number",
        lambda number: abs(number) <= LARGEST_NUMBER,
        {"minimum": -LARGEST_NUMBER, "maximum": LARGEST_NUMBER},
    ),
]

Finite = Annotated[float, *_number("a number", "Give a finite number", lambda number: True, {})]
"""Any double that is a number."""

NotNegative = Annotated[
    float,
    *_number("0 or a positive number", "Give a number", lambda number: number >= 0, {"minimum": 0}),
]

Share = Annotated[
    float,
    *_number(
        "a share from 0 to 1",
        "Give the share of the category",
        lambda number: 0 <= number <= 1,
        {"minimum": 0, "maximum": 1},
    ),
]


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or value != value.strip() or not value.isprintable():
        raise fault(
            "must be text that is not blank, without blanks at its ends or control characters",
            "Give the name as it stands in the table's header",
        )
    return value


Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "minLength": 1})]


def _title(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise fault("must be text without control characters", "Give a name of one line, or remove the field")
    return value


Title = Annotated[str, BeforeValidator(_title), WithJsonSchema({"type": "string"})]
"""A name that may be empty."""


def _unboxed(value: Any) -> object:
    """A numpy scalar or array without axes as Python's own value, anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _listed(value: Any, limit: str, remedy: str) -> list[Any]:
    """The items of a list, tuple, array or other ordered collection."""
    if isinstance(value, str | bytes | Mapping | set | frozenset) or not hasattr(value, "__iter__"):
        raise fault(limit, remedy)
    return list(value)


def _label(value: object) -> str | int | bool:
    """A category label, kept with its type; numpy scalars become Python's."""
    if isinstance(value, str):
        if not value.isprintable() or not value:
            raise fault(
                "must be text that is not empty, without control characters",
                'For missing answers use "missing": "category" instead of an empty label',
            )
        return str(value)
    value = _unboxed(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return value
    raise fault(
        "must be text, an integer below 2^53 in size, or a boolean",
        "Write other numbers as text, or use bins",
    )


_LABEL_SCHEMA: dict[str, Any] = {"type": ["string", "integer", "boolean"]}
LabelField = Annotated[str | int | bool, BeforeValidator(_label), WithJsonSchema(_LABEL_SCHEMA)]


def _categories(value: object) -> int | tuple[str | int | bool, ...]:
    remedy = "Give the ordered list of labels, or their number for codes 0..r-1"
    value = _unboxed(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 2 <= value <= LARGEST_CARDINALITY:
            raise fault("must be from 2 to 1,000,000 categories", remedy)
        return value
    listed = _listed(value, "must be a list of labels or their number", remedy)
    labels = tuple(_label(item) for item in listed)
    if not 2 <= len(labels) <= LARGEST_CARDINALITY:
        raise fault("must have from 2 to 1,000,000 categories", remedy)
    if len({type(label) for label in labels}) > 1:
        raise fault(
            "must have labels of one type, all text, all integers or all booleans",
            "Write labels that mix words and numbers as text, in quotes",
        )
    if len(set(labels)) < len(labels):
        raise fault("must have distinct labels", "Remove the repeated label")
    return labels


Categories = Annotated[
    int | tuple[str | int | bool, ...],
    BeforeValidator(_categories),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 2, "maximum": LARGEST_CARDINALITY},
                {"type": "array", "items": _LABEL_SCHEMA, "minItems": 2, "uniqueItems": True},
            ]
        }
    ),
]


def _edges(value: object) -> tuple[float | None, ...]:
    remedy = "Give increasing edges, for instance [18, 30, 45, null]; null at an end leaves it open"
    limit = "must be a list of at least three edges (two bins)"
    listed = _listed(value, limit, remedy)
    if len(listed) < 3:
        raise fault(limit, remedy)
    if any(edge is None for edge in listed[1:-1]):
        raise fault("may be open (null) only at its two ends", remedy)
    edges = tuple(None if edge is None else real(edge, "a list of numbers", remedy) for edge in listed)
    inner = [edge for edge in edges if edge is not None]
    if any(abs(edge) > LARGEST_NUMBER for edge in inner):
        raise fault("must have edges up to 1e100 in size", remedy)
    if len(edges) > LARGEST_CARDINALITY + 1 or any(a >= b for a, b in pairwise(inner)):
        raise fault("must have increasing edges, at most 1,000,001", remedy)
    return edges


Edges = Annotated[
    tuple[float | None, ...],
    BeforeValidator(_edges),
    WithJsonSchema({"type": "array", "items": {"type": ["number", "null"]}, "minItems": 3}),
]
