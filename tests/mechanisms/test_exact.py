"""Decimals of doubles and roundings with a stated direction (DESIGN 2.7)."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms.exact import exact, float_at_least, float_at_most, log_at_least

doubles = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = math.nextafter(math.inf, 0)


@st.composite
def near_a_double(draw: st.DrawFn) -> Fraction:
    """A fraction at, or within a few units in the last place of, a double: where directions go wrong."""
    number = draw(doubles)
    step = Fraction(math.ulp(number)) * draw(st.fractions(-3, 3, max_denominator=64))
    return (exact(number) if draw(st.booleans()) else Fraction(number)) + step


numbers = st.one_of(st.fractions(), near_a_double(), doubles.map(exact))


def test_a_number_is_the_decimal_that_people_read() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(0.1) != Fraction(0.1)
    assert exact(1e-300) == Fraction(1, 10**300)
    assert exact(3) == 3
    assert exact(-0.0) == 0


@given(doubles)
def test_the_decimal_of_a_double_reads_back_as_that_double(number: float) -> None:
    assert float(exact(number)) == number
    assert exact(number) == Fraction(Decimal(repr(number)))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_has_no_decimal(bad: float) -> None:
    with pytest.raises((ValueError, OverflowError)):
        exact(bad)


@given(numbers)
def test_rounding_up_gives_the_least_double_whose_decimal_is_not_below(number: Fraction) -> None:
    found = float_at_least(number)
    if found < math.inf:
        assert exact(found) >= number
    below = math.nextafter(found, -math.inf)
    if below > -math.inf:
        assert exact(below) < number


@given(numbers)
def test_rounding_down_gives_the_largest_double_whose_decimal_is_not_above(number: Fraction) -> None:
    found = float_at_most(number)
    if found > -math.inf:
        assert exact(found) <= number
    above = math.nextafter(found, math.inf)
    if above < math.inf:
        assert exact(above) > number


@given(doubles)
def test_a_decimal_of_a_double_is_kept_in_both_directions(number: float) -> None:
    assert float_at_least(exact(number)) == number
    assert float_at_most(exact(number)) == number


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20))
def test_sums_of_decimals_are_exact_in_any_order(thousandths: list[int]) -> None:
    """R21: a hundred times 0.01 is 1, whatever the order."""
    spent = [n / 1000 for n in thousandths]
    assert sum(map(exact, spent)) == Fraction(sum(thousandths), 1000)
    assert sum(map(exact, reversed(spent))) == Fraction(sum(thousandths), 1000)


def test_a_million_charges_of_a_millionth_are_one() -> None:
    assert exact(1e-6) * 10**6 == 1  # R21
    assert sum([exact(0.1)] * 3) == exact(0.3)
    assert sum([exact(0.1)] * 10) == 1


@pytest.mark.parametrize("number", [Fraction(0), Fraction(-1, 10**400), Fraction(1, 10**400)])
def test_zero_never_carries_a_minus_sign(number: Fraction) -> None:
    """A file would show -0.0."""
    for found in (float_at_least(number), float_at_most(number)):
        assert found != 0 or math.copysign(1, found) == 1


def test_beyond_the_largest_double_rounding_up_is_infinite_and_rounding_down_is_not() -> None:
    huge = Fraction(10) ** 400
    assert float_at_least(huge) == math.inf
    assert float_at_most(huge) == LARGEST
    assert float_at_least(-huge) == -LARGEST
    assert float_at_most(-huge) == -math.inf
    assert float_at_least(exact(LARGEST)) == LARGEST
    assert float_at_least(exact(LARGEST) + 1) == math.inf


def true_logarithm(ratio: Fraction) -> mpmath.mpf:
    return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)


def assert_tight_upper_bound(found: float, ratio: Fraction) -> None:
    with mpmath.workdps(900):
        wanted = true_logarithm(ratio)
        stated = exact(found)
        assert mpmath.mpf(stated.numerator) / stated.denominator >= wanted
        below = exact(math.nextafter(found, 0))
        # one unit in the last place tighter would be too small, but for a tie within 40 digits
        assert mpmath.mpf(below.numerator) / below.denominator < wanted * (1 + mpmath.mpf(10) ** -39)


@given(
    st.one_of(
        st.fractions(1, 10**40),
        st.integers(2**32, 2**128).map(lambda n: Fraction(n, n - 1)),
        st.tuples(st.integers(1, 2**128), st.integers(1, 2**128)).map(lambda ab: Fraction(max(ab), min(ab))),
    )
)
def test_the_logarithm_is_never_below_and_tight_to_one_unit(ratio: Fraction) -> None:
    found = log_at_least(ratio)
    if ratio == 1:
        assert found == 0
        return
    assert_tight_upper_bound(found, ratio)


@pytest.mark.parametrize("exponent", [1, 10, 38, 100, 300])
def test_the_logarithm_of_a_ratio_next_to_1_keeps_its_digits(exponent: int) -> None:
    ratio = 1 + Fraction(1, 10**exponent)
    assert_tight_upper_bound(log_at_least(ratio), ratio)
    assert log_at_least(ratio) <= float_at_least(Fraction(1, 10**exponent))


def test_the_logarithm_of_a_ratio_with_more_digits_than_python_writes_is_one_too() -> None:
    ratio = 2 + Fraction(1, 10**5000)
    assert_tight_upper_bound(log_at_least(ratio), ratio)
