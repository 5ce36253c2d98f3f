"""Numbers, lists and paths as callers pass them, made the plain types that everything else computes with."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from budget_opt.errors import InputError


def require_number(value: object, name: str) -> float:
    """The double of any real number: of numpy's, of a fraction, of a whole one; it may be NaN or infinite.

    Raises `InputError` for anything else, truth values too, and for what is beyond every double.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}: is a {type(value).__name__}, must be a number.")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name}: is beyond 1.8e308, must be a smaller number.") from None


def require_whole(value: object, name: str, least: int, most: int, instance: int) -> int:
    """The whole number, numpy's too, from `least` to `most`; raises `InputError` with an `instance` else."""
    number = None if isinstance(value, bool) or not isinstance(value, numbers.Integral) else int(value)
    if number is not None and least <= number <= most:
        return number
    is_short = isinstance(value, float) or (number is not None and abs(number) < 10**30)
    told = f"{value}" if is_short else f"a {type(value).__name__}"
    raise InputError(
        f"{name}: is {told}, must be a whole number from {least:,} to {most:,}, for instance {instance:,}."
    )


def require(value: object, kind: type, name: str, remedy: str = "") -> None:
    """Raise `InputError` unless `value` is a `kind`; the value itself is not shown, it may be a table."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        must = f"{name}: is a {type(value).__name__}, must be {article} {kind.__name__}. {remedy}"
        raise InputError(must.rstrip())


def as_list(value: Any) -> list[Any] | None:
    """The items of a list of any kind; None for text, whose letters are no items, and for what has none."""
    if isinstance(value, str | bytes):
        return None
    try:
        return list(value)
    except TypeError:  # an array of numpy without dimensions has a method to go through it, which refuses
        return None


def ordered_list(value: Any) -> list[Any] | None:
    """The same, and None for what has no order to rely on (a set), or is no list (a mapping's keys)."""
    return None if isinstance(value, Mapping | set | frozenset) else as_list(value)


def require_path(value: object, name: str) -> Path:
    """The path of a file; raises `InputError` for an empty text, an address, and what is no text or path."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{name}: is a {type(value).__name__}, must be the path of a file.")
    if isinstance(value, str) and (not value or "://" in value):
        told = "is empty" if not value else f"is the address {value!r}"
        raise InputError(f"{name}: {told}, must be the path of a file on a disk.")
    return Path(value)
