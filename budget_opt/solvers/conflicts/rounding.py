"""Numbers for people, rounded so that following the advice works.

A number means the decimal of its shortest text (DESIGN 2.7): 0.3 stays 0.3.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context


def rounded_up(number: float, digits: int = 4) -> float:
    """The next decimal of so many digits that is at least `number`."""
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(float(number))))


def rounded_down(number: float, digits: int = 3) -> float:
    """The next decimal of so many digits that is at most `number`."""
    return float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(repr(float(number))))
