"""The integer counts of a background (DESIGN 2.1, 2.8; R1, R2, R4, R36), judged by mpmath with 400 digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.background_sampler import (
    BackgroundSampler,
    _smallest_counts,
    background_sampler_for,
    background_sampler_of_width,
    blind_counts,
)
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.sampler import WIDTHS, sampler_for, sampler_of_width
from tests.mechanisms.test_sampler import DIGITS, EDGES, EPSILONS, mpf

Weights = tuple[int, ...]
LOST = Fraction(1, 10**6)

epsilons = st.one_of(st.floats(1e-9, 50), st.floats(-9, 1.69).map(lambda x: 10.0**x))
backgrounds = st.one_of(
    st.lists(st.integers(1, 1000), min_size=2, max_size=30).map(tuple),
    st.lists(st.integers(0, 12).map(lambda k: 10**k), min_size=2, max_size=12).map(tuple),
    st.sampled_from([2, 3, 256, 257]).map(lambda r: tuple(range(1, r + 1))),
)


def exact_counts(epsilon: float, weights: Weights, bits: int) -> Weights:
    """ceil of 2^b (1 - lambda) q by mpmath, from lambda(e) and the price of DESIGN 2.1."""
    least, whole = min(weights), sum(weights)
    effective = mpmath.mpf(whole) / least
    other = effective / (mpmath.exp(mpf(epsilon)) - 1 + effective)
    return tuple(int(mpmath.ceil(mpmath.mpf(2) ** bits * other * weight / whole)) for weight in weights)


def assert_private(sampler: BackgroundSampler, epsilon: float) -> None:
    """R2: 1 < every likelihood ratio <= exp(epsilon); ln of the largest <= stated loss <= epsilon."""
    ratio = sampler.likelihood_ratio
    assert ratio > 1
    assert mpf(ratio) <= mpmath.exp(mpf(epsilon))
    assert mpmath.log(mpf(ratio)) <= mpf(sampler.loss)
    assert exact(sampler.loss) <= exact(epsilon)


@given(epsilon=epsilons, weights=backgrounds, bits=st.sampled_from(WIDTHS))
def test_r2_every_width_is_within_epsilon_and_every_count_the_exact_ceiling(
    epsilon: float, weights: Weights, bits: int
) -> None:
    with mpmath.workdps(DIGITS):
        counts = exact_counts(epsilon, weights, bits)
        sampler = background_sampler_of_width(epsilon, weights, bits)
        assert (sampler is None) == (sum(counts) >= 2**bits)
        if sampler is not None:
            assert sampler.counts == counts
            assert_private(sampler, epsilon)


@given(epsilon=epsilons, weights=backgrounds)
def test_r2_the_width_is_the_least_that_loses_a_millionth_at_most(epsilon: float, weights: Weights) -> None:
    with mpmath.workdps(DIGITS):
        sampler = background_sampler_for(epsilon, weights)
        serving = [bits for bits in WIDTHS if sum(exact_counts(epsilon, weights, bits)) < 2**bits]
        if sampler is None:
            assert serving == []
            return
        assert sampler.bits in serving
        assert_private(sampler, epsilon)
        assert sampler.bits == 128 or exact(sampler.loss) >= exact(epsilon) * (1 - LOST)
        for bits in (bits for bits in serving if bits < sampler.bits):
            narrower = BackgroundSampler(bits, exact_counts(epsilon, weights, bits))
            assert exact(narrower.loss) < exact(epsilon) * (1 - LOST)


@given(epsilon=epsilons, weights=backgrounds, bits=st.sampled_from(WIDTHS))
def test_the_matrix_is_off_by_less_than_a_word_an_entry_and_to_the_modest_side(
    epsilon: float, weights: Weights, bits: int
) -> None:
    sampler = background_sampler_of_width(epsilon, weights, bits)
    if sampler is None:
        return
    with mpmath.workdps(DIGITS):
        effective = mpmath.mpf(sum(weights)) / min(weights)
        growth = mpmath.expm1(mpf(epsilon))
        kept = growth / (growth + effective)
        assert mpf(sampler.retention) <= kept
        assert kept - mpf(sampler.retention) < mpmath.mpf(len(weights)) / mpmath.mpf(2) ** bits
        for v, weight in enumerate(weights):
            ideal = (1 - kept) * weight / sum(weights)
            other = mpf(sampler.probability(v - 1, v))
            assert 0 <= other - ideal < mpmath.mpf(2) ** -bits
    assert exact(sampler.retention_at_most) <= sampler.retention


@given(epsilon=epsilons, weights=backgrounds)
def test_the_matrix_is_stochastic_and_its_largest_likelihood_ratio_is_the_stated_one(
    epsilon: float, weights: Weights
) -> None:
    sampler = background_sampler_for(epsilon, weights)
    assert sampler is not None
    some = range(min(len(weights), 12))
    assert all(sum(sampler.probability(x, y) for y in range(len(weights))) == 1 for x in list(some)[:2])
    least = sampler.counts.index(min(sampler.counts))
    ratios = [
        sampler.probability(y, y) / sampler.probability(x, y)
        for y in {*some, least}
        for x in [(y + 1) % len(weights)]
    ]
    assert max(ratios) == sampler.likelihood_ratio
    assert min(ratios) > 1


@pytest.mark.parametrize("r", EDGES)
def test_r2_r4_a_uniform_background_has_the_integers_of_the_sampler(r: int) -> None:
    for epsilon in EPSILONS if r < 1000 else (1e-3, 1.0, 11.0) if r < 10**6 else (1.0,):
        found, due = background_sampler_for(epsilon, (7,) * r), sampler_for(epsilon, r)
        assert found is not None
        assert due is not None
        assert (found.bits, found.counts) == (due.bits, (due.q,) * r)
        assert (found.retention, found.loss) == (due.retention, due.loss)


@given(epsilon=st.floats(0.01, 10), weights=backgrounds)
def test_the_price_is_that_of_the_effective_cardinality(epsilon: float, weights: Weights) -> None:
    """lambda within 2e-5 of the formulas of 2.1 with r = 1 / min q; the loss within 2e-6 of epsilon."""
    sampler = background_sampler_for(epsilon, weights)
    assert sampler is not None
    effective = sum(weights) / min(weights)
    assert float(sampler.retention) == pytest.approx(float(rr.retention(epsilon, effective)), rel=2e-5)
    assert sampler.loss == pytest.approx(epsilon, rel=2e-6)


@given(weights=backgrounds, bits=st.sampled_from(WIDTHS), epsilon=st.floats(0.5, 8), data=st.data())
def test_r1_as_many_words_as_counted_lead_to_each_category_and_the_rest_to_the_truth(
    weights: Weights, bits: int, epsilon: float, data: st.DataObject
) -> None:
    """The borders decide, as each category's words are a stretch."""
    sampler = background_sampler_of_width(epsilon, weights, bits)
    if sampler is None:
        return
    x = data.draw(st.integers(0, len(weights) - 1))
    start = 0
    for v, count in enumerate(sampler.counts):
        assert {sampler.report(x, word) for word in (start, start + count - 1)} == {v}
        start += count
    assert {sampler.report(x, word) for word in (start, 2**bits - 1)} == {x}
    assert Fraction(2**bits - start, 2**bits) == sampler.retention


@pytest.mark.parametrize("weights", [(1, 1), (1, 3), (5, 2, 1), (1, 1, 1, 50), (3, 1, 4, 1, 5, 9, 2)])
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.5])
def test_r1_over_a_whole_small_word_space_the_rule_gives_the_claimed_matrix(
    weights: Weights, epsilon: float
) -> None:
    """Counts for 10-bit words, each standing for 2^22 words of the sampler: every word, every truth."""
    counts = _smallest_counts(exact(epsilon), weights, 10)
    sampler = BackgroundSampler(32, tuple(count << 22 for count in counts))
    for x in range(len(weights)):
        reports = [sampler.report(x, word << 22) for word in range(2**10)]
        for y in range(len(weights)):
            assert Fraction(reports.count(y), 2**10) == sampler.probability(x, y)


@given(
    shape=st.lists(st.integers(2, 4), min_size=2, max_size=3), epsilon=st.floats(0.1, 6), seed=st.integers(0)
)
def test_a_column_of_a_joint_code_has_the_same_retention_and_the_summed_matrix(
    shape: list[int], epsilon: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    members = [rng.integers(1, 50, size) for size in shape]
    joint = [math.prod(int(w) for w in combination) for combination in product(*members)]
    sampler = background_sampler_for(epsilon, joint)
    assert sampler is not None
    cells = list(product(*map(range, shape)))
    for axis, size in enumerate(shape):
        column = sampler.marginal_of(axis, shape)
        assert column.retention == sampler.retention
        assert column.loss <= sampler.loss
        for x in (0, len(cells) - 1):
            for y in range(size):
                of_cells = (sampler.probability(x, j) for j, cell in enumerate(cells) if cell[axis] == y)
                assert sum(of_cells) == column.probability(cells[x][axis], y)


@pytest.mark.parametrize("epsilon", [0.0, 1e-320, 1e-300, 1e-45, 1e-39])
@pytest.mark.parametrize("weights", [(1, 1), (1, 2, 4), (1, 10**12), tuple(range(1, 300))])
def test_r36_at_epsilon_0_and_below_every_width_there_is_no_sampler(epsilon: float, weights: Weights) -> None:
    assert background_sampler_for(epsilon, weights) is None


@pytest.mark.parametrize(
    "weights", [(1, 1), (1, 2, 4), (1, 10**12), tuple(range(1, 300)), (3,) * 7, (10**24, 1)]
)
def test_r36_blind_counts_are_the_background_to_a_word(weights: Weights) -> None:
    counts = blind_counts(weights, 64)
    assert sum(counts) == 2**64
    assert min(counts) >= 1
    for count, weight in zip(counts, weights, strict=True):
        most = len(weights) if weight == max(weights) else 1
        assert abs(count - Fraction(2**64 * weight, sum(weights))) <= most


@pytest.mark.parametrize("epsilon", [88.0, 100.0, 128.0, 1000.0, 1e4])
@pytest.mark.parametrize("weights", [(1, 2), (1, 10**12), (5, 1, 1, 3)])
def test_a_large_epsilon_is_implemented_as_far_as_128_bits_go(epsilon: float, weights: Weights) -> None:
    sampler = background_sampler_for(epsilon, weights)
    assert sampler is not None
    assert sampler.bits == 128
    with mpmath.workdps(5000):
        assert sampler.counts == exact_counts(epsilon, weights, 128)
        assert_private(sampler, epsilon)
    assert sampler.loss < 88.73  # ln(2^128)


@pytest.mark.parametrize("least", WIDTHS)
def test_a_binding_floor_can_ask_for_a_wider_word(least: int) -> None:
    sampler = background_sampler_for(2.0, (1, 2, 3), least_bits=least)
    assert sampler is not None
    assert sampler.bits == least


@given(epsilon=epsilons, weights=backgrounds)
def test_a_wider_word_never_loses_more(epsilon: float, weights: Weights) -> None:
    found = [background_sampler_of_width(epsilon, weights, bits) for bits in WIDTHS]
    kept = [Fraction(0) if sampler is None else sampler.retention for sampler in found]
    assert kept == sorted(kept)


def test_a_rare_category_sets_the_price_of_all() -> None:
    """With shares 0.9, 0.09, 0.01 at epsilon 2: r is replaced by 100, and lambda falls from 0.68 to 0.06."""
    sampler, even = background_sampler_for(2.0, (90, 9, 1)), sampler_of_width(2.0, 3, 32)
    assert sampler is not None
    assert even is not None
    assert float(sampler.retention) == pytest.approx(math.expm1(2) / (math.expm1(2) + 100), abs=1e-8)
    assert float(even.retention) == pytest.approx(0.680, abs=1e-3)


@pytest.mark.parametrize(
    ("bits", "counts"), [(32, (5,)), (16, (5, 5)), (32, (0, 5)), (32, (5, -1)), (32, (2**31, 2**31))]
)
def test_integers_that_are_no_sampler_are_refused(bits: int, counts: Weights) -> None:
    with pytest.raises(ValueError, match="sampler"):
        BackgroundSampler(bits, counts)


@pytest.mark.parametrize("weights", [(), (1,), (0, 1), (3, -1)])
def test_weights_that_are_no_background_are_refused(weights: Weights) -> None:
    for make in (lambda: background_sampler_for(1.0, weights), lambda: blind_counts(weights, 64)):
        with pytest.raises(ValueError, match="weights"):
            make()


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -1.0])
def test_an_epsilon_that_is_none_is_refused_by_name(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        background_sampler_for(epsilon, (1, 2))
