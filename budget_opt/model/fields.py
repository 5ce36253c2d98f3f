"""Checked field types of the file formats: numbers, names and labels, each with its limit in words.

The checks are those of `values`; what they raise comes back through pydantic with limit and remedy
(`parts.fault_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from budget_opt.model import values
from budget_opt.model.arguments import ordered_list
from budget_opt.model.backgrounds import background as backgrounds
from budget_opt.model.values import (
    LARGEST_CARDINALITY,
    LARGEST_EPSILON,
    LARGEST_NUMBER,
    MOST_OF_ONE,
    SMALLEST_RETENTION,
    UnfitError,
)

LOWEST_LEVEL = 100
SMALLEST_CLUSTER = 4


def _number(
    what: str, remedy: str, holds: Callable[[float], bool], schema: Mapping[str, Any]
) -> tuple[BeforeValidator, WithJsonSchema]:
    def check(value: object) -> float:
        number = values.real(value, what, remedy)
        if not holds(number):
            raise UnfitError(f"must be {what}", remedy)
        return number

    return BeforeValidator(check), WithJsonSchema({"type": "number", **schema})


Budgeted = Annotated[
    float,
    BeforeValidator(values.budget),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": LARGEST_EPSILON}),
]
"""An epsilon that may be 0."""

PositiveBudget = Annotated[
    float,
    *_number(
        "a number of nats from 1e-300 to 10000",
        "Give the budget of one record in nats, for instance 2.0",
        lambda number: number > 0 and values.is_budget(number),
        {"exclusiveMinimum": 0, "maximum": LARGEST_EPSILON},
    ),
]
"""An epsilon above 0."""

Delta = Annotated[
    float,
    *_number(
        "0 or a probability from 1e-300 to below 1",
        "Give far less than 1 / (number of records), such as 1e-9, or remove the field",
        lambda number: number == 0 or 1e-300 <= number < 1,
        {"minimum": 0, "exclusiveMaximum": 1},
    ),
]
"""The delta of (epsilon, delta)-DP; 0 for a guarantee that holds for certain."""

Weight = Annotated[
    float,
    *_number(
        "0 or a number from 1e-100 to 1e100",
        "Give a weight >= 0; 0 takes the moment out of the objective",
        lambda number: number == 0 or 1e-100 <= number <= 1e100,
        {"minimum": 0, "maximum": 1e100},
    ),
]


def _count(check: Callable[[object], int], most: int) -> tuple[BeforeValidator, WithJsonSchema]:
    return BeforeValidator(check), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": most})


def _level(value: object) -> int:
    return values.count(value, LOWEST_LEVEL, "Give 1 to what matters most, then 2, 3, …")


Level = Annotated[int, *_count(_level, LOWEST_LEVEL)]
"""A priority: 1 before 2 before 3."""

RowsOfOne = Annotated[int, *_count(values.rows_of_one, MOST_OF_ONE)]
"""How many records a person may have."""

Waves = Annotated[int, *_count(values.waves, MOST_OF_ONE)]
"""How many releases of the same people are planned."""


def _cells(value: object) -> int:
    limit, remedy = (
        "the most joint categories of one cluster",
        "Give a limit such as 1000, or remove the field",
    )
    number = values.count(value, LARGEST_CARDINALITY, f"It is {limit}. {remedy}")
    if number < SMALLEST_CLUSTER:
        raise UnfitError(f"must be at least {SMALLEST_CLUSTER}, two attributes of two categories", remedy)
    return number


Cells = Annotated[
    int,
    BeforeValidator(_cells),
    WithJsonSchema({"type": "integer", "minimum": SMALLEST_CLUSTER, "maximum": LARGEST_CARDINALITY}),
]
"""The most joint categories that one cluster may have."""


def _clusters(value: object) -> tuple[tuple[str, ...], ...] | Literal["auto"]:
    if isinstance(value, str) and value == "auto":
        return "auto"
    lists = ordered_list(value)
    found = None if lists is None else [ordered_list(names) for names in lists]
    if found is None or not all(isinstance(names, list) and names for names in found):
        raise UnfitError(
            'must be lists of attributes, or "auto"',
            'Give for instance [["smoker", "income"]], or "auto" and let design choose',
        )
    return tuple(tuple(values.name(name) for name in names or ()) for names in found)


Clusters = Annotated[
    tuple[tuple[str, ...], ...] | Literal["auto"],
    BeforeValidator(_clusters),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "const": "auto"},
                {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1},
                        "minItems": 2,
                        "uniqueItems": True,
                    },
                },
            ]
        }
    ),
]
"""Attributes that are randomized together, or "auto"."""

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


BackgroundField = Annotated[
    backgrounds.Background,
    BeforeValidator(backgrounds.background),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": ["uniform", "marginal"]},
                {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 2},
                {
                    "type": "object",
                    "properties": {"mixture": {"type": "number", "minimum": 0, "maximum": 1}},
                    "required": ["mixture"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
"""What a replaced cell is drawn from."""


Distortion = Annotated[
    float,
    *_number(
        "a share of changed cells above 0 (at least 1e-12), at most 1",
        "No cell is unchanged for certain at a finite epsilon; give a share such as 0.3, or remove the field",
        lambda number: SMALLEST_RETENTION <= number <= 1,
        {"exclusiveMinimum": 0, "maximum": 1},
    ),
]
"""The largest expected share of changed cells."""

Name = Annotated[str, BeforeValidator(values.name), WithJsonSchema({"type": "string", "minLength": 1})]


def _title(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise UnfitError(
            "must be text without control characters", "Give a name of one line, or remove the field"
        )
    return value


Title = Annotated[str, BeforeValidator(_title), WithJsonSchema({"type": "string"})]
"""A name that may be empty."""


_LABEL_SCHEMA: dict[str, Any] = {"type": ["string", "integer", "boolean"]}
LabelField = Annotated[str | int | bool, BeforeValidator(values.label), WithJsonSchema(_LABEL_SCHEMA)]


Categories = Annotated[
    int | tuple[str | int | bool, ...],
    BeforeValidator(values.categories),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 2, "maximum": LARGEST_CARDINALITY},
                {"type": "array", "items": _LABEL_SCHEMA, "minItems": 2, "uniqueItems": True},
            ]
        }
    ),
]


Edges = Annotated[
    tuple[float | None, ...],
    BeforeValidator(values.edges),
    WithJsonSchema({"type": "array", "items": {"type": ["number", "null"]}, "minItems": 3}),
]
