"""Amounts of budget as exact decimals: read from text, added, and shown (DESIGN 2.7)."""

from __future__ import annotations

import re
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from functools import lru_cache

from budget_opt.mechanisms.exact import float_at_least, float_at_most

ZERO = Decimal(0)

# More digits than lie between the largest sum and the least digit of any budget; a sum that would not be
# exact all the same raises `Inexact`, so that no rounding ever goes unseen.
_EXACT = Context(prec=1000, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])
_TEXT = re.compile(r"[0-9]{1,500}(\.[0-9]{1,500})?([eE][+-]?[0-9]{1,3})?")
_LEAST_DIGIT = -400
_LARGEST = Decimal(10) ** 12


def plus(first: Decimal, second: Decimal) -> Decimal:
    """The exact sum."""
    return _EXACT.add(first, second)


def times(amount: Decimal, count: int) -> Decimal:
    """The exact multiple."""
    return _EXACT.multiply(amount, count)


def decimal_of(number: float) -> Decimal:
    """The decimal of the shortest text of a double."""
    return Decimal(repr(float(number)))


@lru_cache(maxsize=65_536)
def amount_of(text: str) -> Decimal:
    """The amount that a text in the ledger says; `ValueError` where it says none."""
    if _TEXT.fullmatch(text):
        amount = Decimal(text)
        if amount <= _LARGEST and amount.adjusted() >= _LEAST_DIGIT and _exponent(amount) >= _LEAST_DIGIT:
            return amount
    raise ValueError("no amount")


def _exponent(amount: Decimal) -> int:
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)  # the pattern lets no infinity through
    return exponent


def plain(amount: Decimal) -> str:
    """The amount for people: all its digits, no zeros behind them."""
    if amount == 0:
        return "0"
    short = amount.normalize(_EXACT)
    return f"{short:f}" if short.adjusted() >= -6 else str(short)


def up(amount: Fraction | Decimal) -> float:
    """The least double that is not below the amount."""
    return float_at_least(Fraction(amount))


def down(amount: Fraction | Decimal) -> float:
    """The largest double that is not above the amount."""
    return float_at_most(Fraction(amount))
