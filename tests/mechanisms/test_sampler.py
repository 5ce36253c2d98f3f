"""The sampler's integers (DESIGN 2.8; R1, R2, R4, R36), judged by mpmath with 400 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.sampler import WIDTHS, Sampler, _smallest_count, sampler_for, sampler_of_width

DIGITS = 400
EDGES = (2, 3, 127, 128, 129, 255, 256, 257, 32768, 65535, 65536, 10**6)
EPSILONS = (
    *(1e-9, 2.5e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3, 1 / 3, 0.5, math.log(2), 1.0),
    *(2.0, 5.0, 11.0, 14.5, 15.2, 20.0, 22.18, 22.181, 30.0, 37.0, 44.0, 44.36, 44.37, 50.0),
)
epsilons = st.one_of(st.floats(1e-9, 50), st.floats(-9, 1.69).map(lambda x: 10.0**x))
cardinalities = st.one_of(st.sampled_from(EDGES), st.integers(2, 10**6))


def mpf(number: float | Fraction) -> mpmath.mpf:
    fraction = exact(number) if isinstance(number, float) else number
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def exact_count(epsilon: float, r: int, bits: int) -> int:
    """ceil(2^b / (exp(e) + r - 1)) by mpmath, epsilon the decimal of its shortest text."""
    return int(mpmath.ceil(mpmath.mpf(2) ** bits / (mpmath.exp(mpf(epsilon)) + r - 1)))


def assert_private(sampler: Sampler, epsilon: float) -> None:
    """R2: 1 <= likelihood ratio <= exp(epsilon); ln of it <= stated loss <= epsilon, as decimals."""
    ratio = sampler.likelihood_ratio
    assert ratio > 1
    assert mpf(ratio) <= mpmath.exp(mpf(epsilon))
    assert mpmath.log(mpf(ratio)) <= mpf(sampler.loss)
    assert exact(sampler.loss) <= exact(epsilon)


def assert_width_rule(sampler: Sampler | None, epsilon: float, r: int) -> None:
    """32 bits, unless that loses more than 1e-6 of epsilon or r q > 2^b; then 64; then 128."""
    serving = [bits for bits in WIDTHS if r * exact_count(epsilon, r, bits) < 2**bits]
    if sampler is None:
        assert serving == []
        return
    for bits in (bits for bits in serving if bits < sampler.bits):
        q = exact_count(epsilon, r, bits)
        loss = mpmath.log((mpmath.mpf(2) ** bits - (r - 1) * q) / q)
        assert loss < mpf(epsilon) * (1 - mpf(Fraction(1, 10**6))), (bits, sampler.bits)
    assert sampler.bits in serving
    kept = mpmath.log(mpf(sampler.likelihood_ratio)) >= mpf(epsilon) * (1 - mpf(Fraction(1, 10**6)))
    assert kept or sampler.bits == 128


@pytest.mark.parametrize("r", EDGES)
def test_r2_r4_the_matrix_is_within_epsilon_and_q_exact_at_every_edge_of_width(r: int) -> None:
    with mpmath.workdps(DIGITS):
        for epsilon in EPSILONS:
            sampler = sampler_for(epsilon, r)
            assert_width_rule(sampler, epsilon, r)
            assert sampler is not None
            assert sampler.q == exact_count(epsilon, r, sampler.bits)
            assert_private(sampler, epsilon)


@given(epsilon=epsilons, r=cardinalities)
def test_r2_the_matrix_is_within_epsilon_and_q_exact_anywhere(epsilon: float, r: int) -> None:
    with mpmath.workdps(DIGITS):
        sampler = sampler_for(epsilon, r)
        assert_width_rule(sampler, epsilon, r)
        assert sampler is not None
        assert sampler.q == exact_count(epsilon, r, sampler.bits)
        assert_private(sampler, epsilon)


@given(epsilon=epsilons, r=cardinalities, bits=st.sampled_from(WIDTHS))
@example(epsilon=1.2956666666666665, r=2, bits=128)  # its loss is within 1e-39 of epsilon
def test_r2_the_matrix_is_within_epsilon_at_every_width(epsilon: float, r: int, bits: int) -> None:
    with mpmath.workdps(DIGITS):
        sampler = sampler_of_width(epsilon, r, bits)
        if sampler is not None:
            assert sampler.q == exact_count(epsilon, r, bits)
            assert_private(sampler, epsilon)


@given(epsilon=epsilons, r=cardinalities, bits=st.sampled_from(WIDTHS))
def test_one_count_less_would_break_the_promise(epsilon: float, r: int, bits: int) -> None:
    """q is a ceiling: q - 1 gives a likelihood ratio above exp(epsilon)."""
    sampler = sampler_of_width(epsilon, r, bits)
    if sampler is None or sampler.q == 1:
        return
    less = Sampler(r, bits, sampler.q - 1)
    with mpmath.workdps(DIGITS):
        assert mpf(less.likelihood_ratio) > mpmath.exp(mpf(epsilon))


@given(epsilon=epsilons, r=cardinalities)
def test_the_ceiling_is_exact_where_the_first_digits_do_not_decide_it(epsilon: float, r: int) -> None:
    """With 600 bits 50 digits of exp(epsilon) never do, so that the precision must rise."""
    with mpmath.workdps(DIGITS):
        assert _smallest_count(exact(epsilon), r, 600) == exact_count(epsilon, r, 600)


@given(epsilon=epsilons, r=cardinalities)
def test_the_implemented_matrix_is_rational_stochastic_and_consistent(epsilon: float, r: int) -> None:
    sampler = sampler_for(epsilon, r)
    assert sampler is not None
    truth, other, kept = sampler.truth_probability, sampler.other_probability, sampler.retention
    assert truth + (r - 1) * other == 1
    assert kept == truth - other
    assert kept + (1 - kept) / r == truth
    assert 0 < other < truth < 1
    assert exact(sampler.retention_at_most) <= kept
    assert kept <= Fraction(float(rr.retention(epsilon, r))) * (1 + Fraction(8, 2**52))


@given(epsilon=epsilons, r=cardinalities)
def test_the_retention_is_at_least_that_of_a_millionth_less_epsilon(epsilon: float, r: int) -> None:
    """The width rule, told in retentions; only 128 bits may lose more."""
    sampler = sampler_for(epsilon, r)
    assert sampler is not None
    if sampler.bits < 128:
        assert float(sampler.retention) >= float(rr.retention(epsilon * (1 - 1e-6), r)) * (1 - 1e-14)


def words_that_give(sampler: Sampler, d: int) -> int:
    """How many words u in [0, 2^b) have min(u div q, r - 1) = d, by arithmetic."""
    first = min(d * sampler.q, 2**sampler.bits)
    last = 2**sampler.bits if d == sampler.cardinality - 1 else min((d + 1) * sampler.q, 2**sampler.bits)
    return last - first


@given(epsilon=epsilons, r=st.one_of(st.sampled_from(EDGES), st.integers(2, 300)))
def test_each_other_category_is_reported_by_exactly_q_words(epsilon: float, r: int) -> None:
    """R1: report = (x + d + 1) mod r, so every d < r - 1 is one other category, and the rest is the truth."""
    sampler = sampler_for(epsilon, r)
    assert sampler is not None
    shifts = {0, 1, r // 2, r - 2} - {r - 1}
    assert {words_that_give(sampler, d) for d in shifts} == {sampler.q}
    truth = words_that_give(sampler, r - 1)
    assert Fraction(truth, 2**sampler.bits) == sampler.truth_probability
    assert truth + (r - 1) * sampler.q == 2**sampler.bits
    # the words next to every border fall on the stated side
    q = sampler.q
    for d in shifts:
        assert min(d * q // q, r - 1) == d
        assert min(((d + 1) * q - 1) // q, r - 1) == d


@pytest.mark.parametrize("bits", [8, 10])
@pytest.mark.parametrize("r", [2, 3, 4, 7])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_the_rule_for_the_words_gives_the_claimed_matrix_over_a_whole_small_word_space(
    bits: int, r: int, epsilon: float
) -> None:
    """R1 in small: every word of the rule of DESIGN 2.8 for every truth, counted."""
    q = exact_count(epsilon, r, bits)
    for x in range(r):
        counts = [0] * r
        for u in range(2**bits):
            counts[(x + min(u // q, r - 1) + 1) % r] += 1
        assert counts == [2**bits - (r - 1) * q if y == x else q for y in range(r)]


def test_the_example_numbers_of_the_design() -> None:
    """DESIGN 3.2 (e = 2, r = 4) and 2.9 (a cluster of 4 x 4 at 2 + 2)."""
    single, joint = sampler_for(2.0, 4), sampler_for(4.0, 16)
    assert single is not None
    assert joint is not None
    assert (single.bits, single.q) == (32, 413412659)
    assert float(single.retention) == pytest.approx(0.6149795, abs=5e-8)
    assert float(single.truth_probability) == pytest.approx(0.7112346, abs=5e-8)
    assert float(single.other_probability) == pytest.approx(0.0962551, abs=5e-8)
    assert float(single.retention) ** 2 == pytest.approx(0.378, abs=5e-4)
    assert float(joint.retention) == pytest.approx(0.770, abs=5e-4)
    assert 1.9999999 < single.loss < 2


@pytest.mark.parametrize("epsilon", [0.0, 1e-320, 1e-300, 1e-45, 1e-39])
@pytest.mark.parametrize("r", [2, 3, 256, 10**6])
def test_r36_at_epsilon_0_and_below_every_width_there_is_no_sampler(epsilon: float, r: int) -> None:
    """R36: then the report must not depend on the truth."""
    assert sampler_for(epsilon, r) is None


@pytest.mark.parametrize("r", [2, 3, 1000, 2**16])
def test_the_least_epsilon_of_each_width_is_where_r_q_reaches_the_word_space(r: int) -> None:
    with mpmath.workdps(DIGITS):
        for epsilon in (10.0**-k for k in range(3, 40)):
            for bits in WIDTHS:
                found = sampler_of_width(epsilon, r, bits)
                assert (found is None) == (r * exact_count(epsilon, r, bits) >= 2**bits)


@pytest.mark.parametrize("epsilon", [88.0, 89.0, 127.9, 128.0, 1000.0, 1e4])
@pytest.mark.parametrize("r", [2, 3, 65536])
def test_a_large_epsilon_is_implemented_as_far_as_128_bits_go_and_the_loss_says_so(
    epsilon: float, r: int
) -> None:
    sampler = sampler_for(epsilon, r)
    assert sampler is not None
    assert (sampler.bits, sampler.q) == (128, exact_count(epsilon, r, 128) if epsilon < 1000 else 1)
    with mpmath.workdps(DIGITS):
        assert_private(sampler, epsilon)
    assert sampler.loss < 88.73  # ln(2^128)


@pytest.mark.parametrize(("least", "expected"), [(32, 32), (64, 64), (128, 128)])
def test_a_binding_floor_can_ask_for_a_wider_word(least: int, expected: int) -> None:
    sampler = sampler_for(2.0, 4, least_bits=least)
    assert sampler is not None
    assert sampler.bits == expected


@given(epsilon=epsilons, r=cardinalities)
def test_a_wider_word_never_loses_more(epsilon: float, r: int) -> None:
    found = [sampler_of_width(epsilon, r, bits) for bits in WIDTHS]
    kept = [Fraction(0) if sampler is None else sampler.retention for sampler in found]
    assert kept == sorted(kept)


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -1.0, -1e-300])
def test_an_epsilon_that_is_none_is_refused_by_name(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        sampler_for(epsilon, 4)


@pytest.mark.parametrize("r", [1, 0, -3])
def test_fewer_than_two_categories_are_refused_by_name(r: int) -> None:
    with pytest.raises(ValueError, match="cardinality"):
        sampler_for(1.0, r)


@pytest.mark.parametrize(
    ("r", "bits", "q"), [(1, 32, 5), (4, 16, 5), (4, 33, 5), (4, 32, 0), (4, 32, -1), (4, 32, 2**30)]
)
def test_integers_that_are_no_sampler_are_refused(r: int, bits: int, q: int) -> None:
    with pytest.raises(ValueError, match="sampler"):
        Sampler(r, bits, q)
