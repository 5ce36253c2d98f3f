"""Scores as people type them: income=0,1,2, and of a public column wave=first:0,second:1."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from budget_opt.errors import InputError
from budget_opt.model.labels import Label

ByCategory: TypeAlias = list[float]
ByValue: TypeAlias = dict[Label | None, float]
Scores: TypeAlias = Mapping[str, ByCategory | ByValue]
"""By column: of an attribute a number a category, of a public column one a value."""


def scores_of(stated: Sequence[str], public: Collection[str]) -> Scores:
    """a=0,1,2 as {"a": [0, 1, 2]}; of a `public` column w=x:0,y:1 as {"w": {"x": 0, "y": 1}}.

    Raises `InputError` for other words, and where numbers are given for the other kind of column.
    """
    found: dict[str, ByCategory | ByValue] = {}
    for text in stated:
        column = next((name for name in public if text.startswith(f"{name}=")), None)
        if column is not None:
            found[column] = _by_value(text, text.removeprefix(f"{column}="))
        else:
            name, _, numbers = text.rpartition("=")
            found[name.strip()] = _by_category(text, name.strip(), numbers)
    return found


def _by_category(text: str, name: str, numbers: str) -> ByCategory:
    try:
        found = [float(number) for number in numbers.split(",")]
    except ValueError:
        name = ""
    if not name:
        raise InputError(
            f"--scores {text}: must be like income=0,1,2, a number a category; of a public column like "
            "wave=first:0,second:1, a number a value."
        )
    return found


def _by_value(text: str, pairs: str) -> ByValue:
    """A value that holds a comma stands in double quotes, as in CSV."""
    found: ByValue = {}
    for pair in next(csv.reader([pairs], skipinitialspace=True), []):
        value, colon, number = pair.rpartition(":")
        try:
            score = float(number)
        except ValueError:
            colon = ""
        if not colon:
            raise InputError(
                f"--scores {text}: is of a public column, whose values nobody has put in an order. Give the "
                "number of each value, like wave=first:0,second:1."
            )
        found |= dict.fromkeys(_readings(value.strip()), score)
    return found


def _readings(value: str) -> list[Label | None]:
    """The value as text, and as what a column with a type may hold in its place."""
    readings: list[Label | None] = [value]
    if not value:
        readings.append(None)
    if value.lower() in ("true", "false"):
        readings.append(value.lower() == "true")
    if value.removeprefix("-").isdecimal():
        readings.append(int(value))
    return readings
