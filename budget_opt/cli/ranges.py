"""Values of an option as people type them: 1:10:19 (from, to, how many) or 1,2,5."""

from __future__ import annotations

from decimal import Context, Decimal, DecimalException

from budget_opt.errors import InputError

MOST = 10_000
"""Values at most."""
_DIGITS = Context(prec=12)
"""So that 1:2:11 has 1.1, and not the double next to it."""


def values_of(text: str, option: str) -> list[float]:
    """The numbers that `text` stands for; raises `InputError` with the option where it cannot be read."""
    try:
        if ":" not in text:
            return [float(_DIGITS.plus(Decimal(part.strip()))) for part in text.split(",")]
        start, stop, count = text.split(":")
        return _steps(Decimal(start.strip()), Decimal(stop.strip()), int(count))
    except (ValueError, DecimalException):
        raise InputError(
            f"{option}: is {text!r}, must be from:to:how many, such as 1:10:19, with 2 to {MOST:,}, "
            "or a list such as 1,2,5."
        ) from None


def _steps(start: Decimal, stop: Decimal, count: int) -> list[float]:
    """Evenly spaced values, both ends included."""
    if not 2 <= count <= MOST or not (start.is_finite() and stop.is_finite()):
        raise ValueError
    return [float(_DIGITS.plus(start + (stop - start) * k / (count - 1))) for k in range(count)]
