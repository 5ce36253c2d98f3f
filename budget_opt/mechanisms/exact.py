"""Numbers as the decimals that people read, and roundings with a stated direction (DESIGN 2.7).

A double stands for the decimal of its shortest round-trip text: 0.1 is one tenth. Sums and
comparisons of budgets are taken on these decimals as exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_EVERY_DIGIT = 800
"""More than lie between the largest and the least digit of any two doubles."""
_LARGE = 10**9  # no exponent of a double or of a 128-bit count comes near it


def context(digits: int) -> Context:
    """A decimal context of `digits` digits without limits on the exponent and without traps lost."""
    return Context(prec=digits, Emin=-_LARGE, Emax=_LARGE)


def exact(number: float) -> Fraction:
    """The decimal of the shortest text of `number`, as a fraction; `number` is finite."""
    return Fraction(Decimal(repr(float(number))))


def exact_sum(numbers: Iterable[float]) -> Fraction:
    """The exact sum of the decimals of the shortest texts, many times faster than adding fractions."""
    whole = context(_EVERY_DIGIT)
    total = Decimal(0)
    for number in numbers:
        total = whole.add(total, Decimal(repr(float(number))))
    return Fraction(total)


def float_at_least(number: Fraction) -> float:
    """The least double whose shortest text is >= `number`; inf above the largest double."""
    try:
        candidate = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.nextafter(math.inf, 0.0)
    candidate = math.nextafter(candidate, -math.inf)
    while math.isinf(candidate) or _is_below(candidate, number):
        candidate = math.nextafter(candidate, math.inf)
        if candidate == math.inf:
            break
    return candidate + 0.0  # the neighbour above -5e-324 is -0.0


def _is_below(candidate: float, number: Fraction) -> bool:
    """exact(candidate) < number, without making a fraction of the candidate."""
    numerator, denominator = Decimal(repr(candidate)).as_integer_ratio()
    return numerator * number.denominator < number.numerator * denominator


def float_at_most(number: Fraction) -> float:
    """The largest double whose shortest text is <= `number`; -inf below the least double."""
    return -float_at_least(-number) + 0.0


def multiple_at_least(number: float, count: int) -> float:
    """`count` times the decimal of `number`, rounded up."""
    return float_at_least(exact(number) * count)


def log_at_least(ratio: Fraction) -> float:
    """A double >= ln `ratio` as a decimal, tight to one unit in the last place; `ratio` >= 1."""
    return 0.0 if ratio == 1 else float_at_least(_log_beside(ratio, ROUND_CEILING))


def log_at_most(ratio: Fraction) -> float:
    """A double <= ln `ratio` as a decimal, tight to one unit in the last place; `ratio` >= 1."""
    return 0.0 if ratio == 1 else float_at_most(_log_beside(ratio, ROUND_FLOOR))


def _log_beside(ratio: Fraction, rounding: str) -> Fraction:
    """A fraction next to ln `ratio` > 0, on the side that `rounding` names."""
    # ln(1 + x) is near x for a ratio near 1: carry as many digits as x has leading zeros, and twice the
    # 40 of a 128-bit count more, or the step up below can pass the epsilon that the count came from.
    # They are counted in bits, three or more of which make a digit: Python writes no integer of 4,301 digits
    excess = ratio - 1
    leading = max(0, excess.denominator.bit_length() - excess.numerator.bit_length() + 1) // 3
    ctx = context(2 * leading + 80)
    aside = context(ctx.prec)
    aside.rounding = rounding
    nearest = ctx.ln(aside.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
    # Decimal.ln is correctly rounded to nearest whatever the context says, so one step aside is a bound
    return Fraction(ctx.next_plus(nearest) if rounding == ROUND_CEILING else ctx.next_minus(nearest))
