"""Least epsilon and least Hamming distortion of a source (Kalantari 2018; R1, R2, R4 for such matrices)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import budget_opt as bo
from benchmarks.hamming_judges import by_bisection, leakage, matrix_program, reduced_form, symmetric_leakage
from benchmarks.hamming_sources import known_order, mirrored, pieces
from budget_opt.errors import InputError
from budget_opt.mechanisms import hamming
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import Source, least_distortion, least_epsilon, sampler_of, thresholds
from budget_opt.mechanisms.hamming.matrix import matrix_of
from budget_opt.mechanisms.hamming.theorem import symmetric_ratio
from budget_opt.model.distortion import distortion as distortion_of
from budget_opt.model.distortion import least_retention
from tests.mechanisms.sources import ordered_sources, sources

any_source = st.one_of(sources(), ordered_sources())
epsilons = st.sampled_from((0.0, 1e-6, 0.05, 0.3, 1.0, 1.7, 3.0, 5.0))
distortions = st.integers(5, 950).map(lambda thousandths: thousandths / 1000)
TWO = Source.of([(0.5, 0.2, 0.15, 0.1, 0.05), (0.4, 0.3, 0.2, 0.06, 0.04)])


def mpf(number: float | Fraction) -> mpmath.mpf:
    fraction = exact(number) if isinstance(number, float) else number
    return mpmath.mpf(fraction.numerator) / fraction.denominator


@given(source=any_source, epsilon=epsilons)
def test_the_distortion_is_that_of_the_program_over_all_entries(source: Source, epsilon: float) -> None:
    assert least_distortion(source, epsilon).distortion == pytest.approx(
        matrix_program(source, epsilon), abs=1e-7
    )


@given(source=any_source, distortion=distortions)
def test_at_the_least_epsilon_the_program_over_all_entries_reaches_the_distortion_and_no_less(
    source: Source, distortion: float
) -> None:
    found = least_epsilon(source, distortion)
    reached = matrix_program(source, found.epsilon)
    assert reached <= distortion + 1e-7
    assert found.epsilon == 0 or reached == pytest.approx(distortion, abs=1e-7)


@pytest.mark.parametrize("distortion", [0.05, 0.3, 0.45, 0.55])
def test_the_inverse_of_the_program_and_the_reduced_form_give_the_same_epsilon(distortion: float) -> None:
    epsilon = least_epsilon(TWO, distortion).epsilon
    assert by_bisection(TWO, distortion) == pytest.approx(epsilon, abs=1e-7)
    assert reduced_form(TWO, distortion) == pytest.approx(epsilon, abs=1e-6)


@given(source=any_source, epsilon=epsilons)
def test_r2_every_matrix_is_stochastic_and_within_epsilon_in_exact_arithmetic(
    source: Source, epsilon: float
) -> None:
    found = least_distortion(source, epsilon)
    assert all(sum(row) == 1 and min(row) >= 0 for row in found.matrix.rows)
    with mpmath.workdps(200):
        assert mpf(found.matrix.likelihood_ratio) <= mpmath.exp(mpf(epsilon))
    assert exact(found.epsilon) <= exact(epsilon)
    assert exact(found.bound) <= found.matrix.distortion(source) <= exact(found.distortion)
    assert found.gap <= 1e-9


@given(source=any_source, distortion=distortions)
def test_r2_the_asked_distortion_is_kept_exactly_and_epsilon_proved_to_a_millionth(
    source: Source, distortion: float
) -> None:
    found = least_epsilon(source, distortion)
    assert found.matrix.distortion(source) <= exact(distortion)
    with mpmath.workdps(200):
        assert mpmath.log(mpf(found.matrix.likelihood_ratio)) <= mpf(found.epsilon)
    assert 0 <= found.gap <= 1e-6
    assert min(found.hardest) >= 0
    assert sum(found.hardest) == 1


@given(source=any_source, one=distortions, other=distortions)
def test_epsilon_falls_with_the_distortion_and_is_never_above_that_of_class_one(
    source: Source, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    first, second = least_epsilon(source, low), least_epsilon(source, high)
    assert second.bound <= first.epsilon
    symmetric = least_epsilon(Source.anything(source.cardinality), low)
    assert first.bound <= symmetric.epsilon


@given(source=ordered_sources(least=3), distortion=distortions)
def test_below_the_last_threshold_the_order_is_worth_nothing_and_from_the_first_on_epsilon_is_zero(
    source: Source, distortion: float
) -> None:
    bounds = thresholds(source)
    assert list(bounds) == sorted(bounds, reverse=True)
    found = least_epsilon(source, distortion)
    if distortion < bounds[-1]:
        symmetric = math.log((source.cardinality - 1) * (1 - distortion) / distortion)
        assert found.epsilon == pytest.approx(max(0.0, symmetric), rel=1e-12)
    assert (found.epsilon == 0) == (exact(distortion) >= 1 - source.least_mean(_first(source)))


def _first(source: Source) -> list[Fraction]:
    assert source.order is not None
    return [Fraction(code == source.order[0]) for code in range(source.cardinality)]


@given(source=ordered_sources(least=3))
def test_at_every_threshold_the_output_alphabet_shrinks_to_the_most_probable_categories(
    source: Source,
) -> None:
    assert source.order is not None
    for count, bound in enumerate(thresholds(source), start=1):
        if source.source_class == "II" and 1e-6 < bound < 1:
            assert len(least_epsilon(source, bound).reported) <= count
            before = least_epsilon(source, bound - 1e-7)
            assert set(before.reported) == set(source.order[: len(before.reported)])
            assert len(before.reported) > count or least_epsilon(source, bound - 1e-7).epsilon == 0


def test_thresholds_of_one_distribution_are_where_a_rarer_category_is_not_worth_its_price() -> None:
    shares = [Fraction(k, 15) for k in (5, 4, 3, 2, 1)]
    expected = [1 - sum(shares[:k]) + (k - 1) * shares[k] for k in range(1, 5)]
    assert thresholds(Source.of([shares])) == pytest.approx([float(bound) for bound in expected], abs=1e-15)
    assert [len(least_epsilon(Source.of([shares]), float(d) + 1e-9).reported) for d in expected] == [
        1,
        2,
        3,
        4,
    ]


@given(r=st.integers(2, 9), distortion=distortions)
def test_the_symmetric_matrix_is_randomized_response(r: int, distortion: float) -> None:
    attribute = bo.Attribute("a", categories=r)
    kept = least_retention(attribute, distortion)
    assert distortion_of(attribute, kept) <= exact(distortion)
    assert 1 - distortion_of(attribute, kept) == kept + (1 - kept) / r
    ratio = symmetric_ratio(exact(distortion), r)
    assert float(rr.retention(math.log(ratio), r)) == pytest.approx(float(kept), abs=1e-12)
    found = least_epsilon(Source.anything(r), distortion)
    assert found.matrix.likelihood_ratio == ratio
    assert all(len(set(row)) <= 2 for row in found.matrix.rows)
    assert found.matrix.rows[0][0] == kept + (1 - kept) / r


def test_an_order_alone_is_worth_nothing_and_with_a_bound_on_flatness_it_is() -> None:
    assert Source.ordered(6).source_class == "I"
    assert len(Source.ordered(6).vertices) == 6
    steep = Source.ordered(6, first_at_least=0.5)
    assert steep.source_class == "II"
    assert min(shares[0] for shares in steep.vertices) == Fraction(1, 2)
    assert least_epsilon(steep, 0.5).epsilon == 0
    assert least_epsilon(Source.ordered(6), 0.5).epsilon == pytest.approx(math.log(5))


def test_an_interval_has_exactly_the_extreme_points_of_the_box_that_sum_to_one() -> None:
    found = Source.between([0.5, 0.2, 0.0], [0.6, 0.3, 0.2])
    tenths = {tuple(round(float(share) * 10) for share in shares) for shares in found.vertices}
    assert tenths == {(5, 3, 2), (6, 3, 1), (6, 2, 2)}
    with pytest.raises(InputError, match="leave no distribution"):
        Source.between([0.6, 0.5], [0.7, 0.6])
    with pytest.raises(InputError, match=r"category 0 has the lower limit 0\.5 above the upper one, 0\.4"):
        Source.between([0.5, 0.1], [0.4, 0.9])


@given(
    box=st.lists(st.tuples(st.integers(-3, 9), st.integers(0, 14)), min_size=2, max_size=5),
    weights=st.lists(st.integers(-5, 5), min_size=5, max_size=5),
)
def test_a_mean_is_least_in_an_extreme_point_of_an_interval_whatever_its_limits(
    box: list[tuple[int, int]], weights: list[int]
) -> None:
    """HiGHS over the box itself; limits of confidence may lie below 0 and above 1."""
    lower, upper = [low / 10 for low, _ in box], [(low + width) / 10 for low, width in box]
    used = weights[: len(box)]
    limits = [(max(0.0, a), min(1.0, b)) for a, b in zip(lower, upper, strict=True)]
    if any(a > b for a, b in limits):
        return
    judged = linprog(used, A_eq=[[1.0] * len(box)], b_eq=[1.0], bounds=limits, method="highs")
    if judged.status != 0:
        with pytest.raises(InputError, match="leave no distribution"):
            Source.between(lower, upper)
        return
    found = Source.between(lower, upper).least_mean([Fraction(weight) for weight in used])
    assert float(found) == pytest.approx(judged.fun, abs=1e-9)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "half"])
def test_r13_what_is_no_number_is_refused_by_every_verb(bad: Any) -> None:
    for ask in (
        lambda: Source.of([[bad, 0.5]]),
        lambda: Source.between([bad, 0.1], [0.5, 0.9]),
        lambda: Source.ordered(3, first_at_least=bad),
        lambda: least_epsilon(TWO, bad),
        lambda: least_distortion(TWO, 1.0).matrix.expected([bad, 1, 2, 3, 4]),
    ):
        with pytest.raises(InputError, match="must be finite"):
            ask()


@pytest.mark.parametrize("distortion", [0.1, 0.4])
def test_mutual_information_is_the_rate_of_the_uniform_source_and_never_above_epsilon(
    distortion: float,
) -> None:
    even = Source.of([[Fraction(1, 3)] * 3])
    assert leakage(even, distortion) == pytest.approx(symmetric_leakage(3, distortion), abs=1e-6)
    assert leakage(TWO, distortion) <= least_epsilon(TWO, distortion).epsilon


@pytest.mark.parametrize("distortion", [0.1, 0.35, 0.5, 0.65])
def test_class_three_lies_between_the_bounds_of_folding(distortion: float) -> None:
    found = hamming.folding_bounds(pieces(6), distortion)
    assert found.exact.source.source_class == "III"
    assert found.lower - 1e-7 <= found.exact.epsilon <= found.upper.epsilon + 1e-12
    assert found.exact.epsilon >= least_epsilon(known_order(6), distortion).epsilon - 1e-9
    assert found.exact.epsilon <= least_epsilon(Source.anything(6), distortion).epsilon + 1e-9
    assert hamming.folding_bounds(mirrored(6), distortion).tight


def test_the_bounds_of_folding_are_tight_at_small_distortions_and_not_everywhere() -> None:
    assert hamming.folding_bounds(pieces(6), 0.1).tight
    assert not hamming.folding_bounds(pieces(6), 0.5).tight


def test_equal_distortions_along_orders_that_form_no_group_would_ask_for_too_much() -> None:
    # the identity and one shift of three categories: D_i = D_T(i) leaves the symmetric matrix only
    shares = (0.6, 0.3, 0.1)
    shifted = (0.1, 0.6, 0.3)
    found = hamming.folding_bounds([Source.of([shares]), Source.of([shifted])], 0.5)
    assert found.tight
    assert found.exact.epsilon < math.log(2) - 0.05


def test_a_hull_with_the_uniform_distribution_is_found_where_no_vertex_is_uniform() -> None:
    assert Source.of([(0.6, 0.3, 0.1), (0.3, 0.6, 0.1), (0.1, 0.3, 0.6)]).source_class == "I"
    assert Source.of([(0.6, 0.3, 0.1), (0.3, 0.6, 0.1), (0.1, 0.4, 0.5)]).source_class == "III"


@pytest.mark.parametrize(
    ("counts", "distortion"),
    [
        (((4, 3, 1), (5, 1, 1)), 0.45),
        (((3, 1, 1), (3, 2, 1)), 0.41),
        (((3, 1, 2, 4), (1, 2, 1, 1), (3, 6, 3, 5)), 0.7),
        (((0, 0, 1), (6, 3, 2), (6, 1, 3)), 0.46),
    ],
)
def test_epsilon_is_proved_where_the_hardest_distribution_has_the_unchanged_share_in_one_category(
    counts: tuple[tuple[int, ...], ...], distortion: float
) -> None:
    source = Source.of([[Fraction(count, sum(row)) for count in row] for row in counts])
    found = least_epsilon(source, distortion)
    assert found.epsilon > 0.1
    assert found.gap <= 1e-6


@pytest.mark.parametrize("source", [TWO, Source.anything(3), Source.of([(0.6, 0.3, 0.1), (0.1, 0.6, 0.3)])])
def test_what_no_epsilon_reaches_is_refused(source: Source) -> None:
    with pytest.raises(InputError, match="no finite epsilon"):
        least_epsilon(source, 0.0)
    with pytest.raises(InputError, match=r"must be a share in 0\.\.1"):
        least_epsilon(source, 1.5)
    with pytest.raises(InputError, match="must be in 0"):
        least_distortion(source, -1.0)


def test_a_source_is_refused_with_what_is_wrong() -> None:
    for shares, words in (
        ([], "no distribution"),
        ([(0.5, 0.4)], "sum to 0.9"),
        ([(1.5, -0.5)], "negative"),
        ([(1.0,)], ">= 2"),
    ):
        with pytest.raises(InputError, match=words):
            Source.of(shares)
    with pytest.raises(InputError, match="do not agree on an order"):
        thresholds(Source.of([(0.6, 0.3, 0.1), (0.1, 0.6, 0.3)]))


def test_large_and_tiny_epsilons_are_served() -> None:
    three = Source.of([(0.5, 0.2, 0.15, 0.1, 0.05), (0.0, 0.3, 0.2, 0.46, 0.04)])
    for source in (TWO, three):
        for epsilon in (1e-12, 50.0, 700.0):
            found = least_distortion(source, epsilon)
            assert exact(found.epsilon) <= exact(epsilon)
            assert found.gap <= 1e-9 * (1 if epsilon < 1 else found.distortion)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-45, 1e-39])
def test_an_epsilon_below_a_last_digit_is_served_by_a_matrix_within_it(epsilon: float) -> None:
    for source in (TWO, Source.anything(3), Source.of([(0.6, 0.3, 0.1), (0.1, 0.6, 0.3)])):
        found = least_distortion(source, epsilon)
        assert exact(found.epsilon) <= exact(epsilon)
        assert found.gap <= 1e-9


def test_a_matrix_of_weights_has_the_entries_of_its_formula() -> None:
    weights = [Fraction(1), Fraction(1, 2), Fraction(1), Fraction(0), Fraction(1, 2)]
    ratio, whole = Fraction(5), Fraction(7)
    for i, row in enumerate(matrix_of(weights, ratio).rows):
        kept = ratio * weights[i] / whole
        spread = (1 - kept) / (3 - weights[i])
        assert row == tuple(kept if j == i else spread * other for j, other in enumerate(weights))


def test_the_effect_on_means_is_exact_and_not_a_single_factor() -> None:
    matrix = least_distortion(TWO, 1.0).matrix
    scores = [0.0, 1.0, 2.0, 3.0, 4.0]
    marginal = [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(3, 10), Fraction(1, 10)]
    effect = matrix.expected(scores)
    released = matrix.released_marginal(marginal)
    assert sum(released) == 1
    assert sum(p * f for p, f in zip(marginal, effect, strict=True)) == sum(
        p * exact(f) for p, f in zip(released, scores, strict=True)
    )
    steps = {after - before for before, after in pairwise(effect)}
    assert len(steps) > 1


def test_the_module_is_reached_as_bo_hamming() -> None:
    assert bo.hamming is hamming
    assert bo.hamming.least_epsilon(bo.hamming.Source.anything(2), 0.25).epsilon == pytest.approx(math.log(3))


def test_a_source_and_what_is_made_of_it_print_in_one_line_without_its_fractions() -> None:
    """Bounds on twelve shares have thousands of extreme distributions, with fractions of many digits."""
    shares = [0.36, 0.16, 0.18, 0.11, 0.08, 0.04, 0.035, 0.02, 0.008, 0.004, 0.002, 0.001]
    source = Source.between([0.8 * share for share in shares], [1.2 * share for share in shares])
    assert str(source) == f"class III, 12 categories, {len(source.vertices):,} extreme distributions"
    assert repr(source) == f"<Source: {source}>"
    assert str(Source.of([[0.5, 0.5]])) == "class I, 2 categories, 1 distribution"
    optimum = least_distortion(Source.ordered(3), 1.0)
    for one in (optimum, optimum.matrix, sampler_of(optimum.matrix, 1.0)):
        assert len(repr(one)) < 300
        assert "Fraction" not in repr(one)
