"""Numbers and lists as the report writes them."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from budget_opt.tables.printing import percent

NOTHING = "\u2013"
"""Stands where there is no number."""


NO_BREAK = "\u00a0"
"""Between a number and its unit."""


def share(number: float | None) -> str:
    """A retention or probability as people say it."""
    return NOTHING if number is None else percent(number).replace(" ", NO_BREAK)


def whole_percent(share: float) -> str:
    """A level or power, which people choose in whole percents: 5 %, 80 %."""
    return f"{100 * share:.3g}{NO_BREAK}%"


def number(value: float | None, digits: int = 4) -> str:
    """A number to some significant digits, commas in thousands, without zeros at its end."""
    return _trimmed(_shown(value, digits, ROUND_HALF_EVEN))


def column(value: float | None, digits: int = 4) -> str:
    """The same with its last zeros, for a column of numbers."""
    return _shown(value, digits, ROUND_HALF_EVEN)


def at_most(value: float | None, digits: int = 4) -> str:
    """The same rounded up: what a guarantee costs is never said to be less than it is."""
    return _trimmed(_shown(value, digits, ROUND_CEILING))


def _shown(value: float | None, digits: int, rounding: str) -> str:
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    decimal = Decimal(repr(value))
    last = Decimal(1).scaleb(decimal.adjusted() - digits + 1)
    if -5 <= decimal.adjusted() < 9:
        return f"{decimal.quantize(min(last, Decimal(1)), rounding=rounding):,f}"
    return f"{decimal.quantize(last, rounding=rounding).normalize():e}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def count(items: int, one: str, many: str | None = None) -> str:
    """1 moment, 2 moments."""
    return f"{items:,} {one if items == 1 else many or one + 's'}"


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """a, b and c; a long list is cut and says how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
