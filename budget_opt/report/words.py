"""Numbers and lists as the report writes them."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN

from budget_opt.tables.printing import NOTHING, digits_of, percent, percent_at_most, trimmed

NO_BREAK = "\u00a0"
"""Between a number and its unit."""


def share(number: float | None) -> str:
    """A retention or probability as people say it."""
    return NOTHING if number is None else percent(number).replace(" ", NO_BREAK)


def share_at_most(number: float) -> str:
    """A probability that tells on somebody, rounded up."""
    return percent_at_most(number).replace(" ", NO_BREAK)


def whole_percent(share: float) -> str:
    """A level or power, which people choose in whole percents: 5 %, 80 %."""
    return f"{100 * share:.3g}{NO_BREAK}%"


def number(value: float | None, digits: int = 4) -> str:
    """A number to some significant digits, commas in thousands, without zeros at its end."""
    return trimmed(digits_of(value, digits, ROUND_HALF_EVEN))


def column(value: float | None, digits: int = 4) -> str:
    """The same with its last zeros, for a column of numbers."""
    return digits_of(value, digits, ROUND_HALF_EVEN)


def count(items: int, one: str, many: str | None = None) -> str:
    """1 moment, 2 moments."""
    return f"{items:,} {one if items == 1 else many or one + 's'}"


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """a, b and c; a long list is cut and says how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
