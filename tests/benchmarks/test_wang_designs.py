"""The Laplace mechanism as a design matrix, and what Wang (2016) says of it (benchmarks/wang.py)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.wang_claims import ENDS
from benchmarks.wang_designs import (
    FloatArray,
    circulant,
    dispersion,
    errors_by_truth,
    laplace,
    largest_diagonal,
    loss,
    middle_cuts,
    response,
    share_variances,
    squared_distance,
    wrong_guess,
    wrong_value,
)
from benchmarks.wang_search import (
    binary_shares,
    excess,
    fails_until,
    mean_variance,
    some_shares,
    triangles_cross,
    worst,
)

epsilons = st.floats(0.05, 12.0)
sizes = st.integers(2, 12)


@st.composite
def cut_designs(draw: st.DrawFn) -> tuple[float, int, FloatArray]:
    """An epsilon, a number of categories, and increasing cuts anywhere."""
    t = draw(sizes)
    steps = draw(st.lists(st.floats(0.01, 2.0), min_size=t - 1, max_size=t - 1))
    return draw(epsilons), t, draw(st.floats(-1.0, 2.0)) + np.cumsum(steps)


@given(cut_designs())
def test_each_truth_has_one_report_whatever_the_cuts(case: tuple[float, int, FloatArray]) -> None:
    assert laplace(*case).sum(axis=1) == pytest.approx(np.ones(case[1]), abs=1e-14)


@given(cut_designs())
def test_result_2_and_4_no_cuts_spend_more_than_epsilon(case: tuple[float, int, FloatArray]) -> None:
    """Post-processing; wherever a cell's probability is not lost in the last digits."""
    epsilon, design = case[0], laplace(*case)
    assert loss(design[:, design.min(axis=0) > 1e-12]) <= epsilon * (1 + 1e-9) + 1e-9


@given(epsilons)
def test_result_2_the_binary_diagonal_is_one_less_half_of_exp_of_half_of_epsilon(epsilon: float) -> None:
    right = 1.0 - math.exp(-epsilon / 2.0) / 2.0
    assert np.diag(laplace(epsilon, 2)) == pytest.approx([right, right], rel=1e-14)


@given(epsilons, st.floats(-1.0, 2.0))
def test_result_2_no_threshold_has_a_larger_diagonal_than_one_half(epsilon: float, threshold: float) -> None:
    there = laplace(epsilon, 2, np.array([1.0 + threshold]))
    assert np.trace(there) <= np.trace(laplace(epsilon, 2)) + 1e-12


@given(cut_designs())
def test_result_4_no_cuts_have_a_larger_diagonal_than_the_middles(
    case: tuple[float, int, FloatArray],
) -> None:
    epsilon, t, _ = case
    middle = laplace(epsilon, t)
    assert np.trace(laplace(*case)) <= np.trace(middle) + 1e-12
    assert np.trace(middle) == pytest.approx(t - (t - 1) * math.exp(-epsilon / (2 * (t - 1))), rel=1e-12)


def test_the_design_is_what_noise_and_cuts_give() -> None:
    """A million draws; six standard errors are a false alarm of 2e-9 a cell."""
    random, t, epsilon, n = np.random.default_rng(1), 5, 1.3, 1_000_000
    design = laplace(epsilon, t)
    for x in (1, 3, 5):
        noisy = x + random.laplace(scale=(t - 1) / epsilon, size=n)
        counts = np.bincount(np.searchsorted(middle_cuts(t), noisy), minlength=t)
        expected = n * design[x - 1]
        assert np.all(np.abs(counts - expected) < 6 * np.sqrt(expected))


@pytest.mark.parametrize("t", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_results_1_and_3_randomized_response_has_the_largest_diagonal(epsilon: float, t: int) -> None:
    assert np.trace(response(epsilon, t)) == pytest.approx(largest_diagonal(epsilon, t), rel=1e-7)
    assert loss(response(epsilon, t)) <= epsilon


def test_a_smaller_diagonal_can_have_less_variance() -> None:
    even = np.full(7, 1 / 7)
    lines, usual = circulant(0.25, 7, (0, 1, 3)), response(0.25, 7)
    assert loss(lines) == pytest.approx(0.25)
    assert np.trace(lines) < np.trace(usual)
    assert share_variances(lines, even).sum() == pytest.approx(
        0.581 * share_variances(usual, even).sum(), rel=1e-3
    )


def test_eq_17_and_18_the_dispersion_is_that_of_corrected_draws() -> None:
    """20,000 samples: a variance is known to 1 %, six standard errors are 6 %."""
    shares, design, n = np.array([0.5, 0.3, 0.2]), laplace(3.0, 3), 400
    drawn = np.random.default_rng(2).multinomial(n, shares @ design, size=20_000) / n
    corrected = drawn @ np.linalg.inv(design)
    stated = dispersion(design, shares)
    assert n * np.cov(corrected.T) == pytest.approx(stated, rel=0.06)
    assert np.diag(stated) == pytest.approx(share_variances(design, shares), rel=1e-9)


def test_theorem_2_and_3_hold_and_are_equalities_at_equal_loss() -> None:
    shares = binary_shares()
    for epsilon in (0.1, 0.5, 1.0, 3.0, 8.0):
        design = laplace(epsilon, 2)
        same = response(loss(design), 2)
        for measure in (errors_by_truth, share_variances):
            assert np.all(measure(design, shares) >= measure(response(epsilon, 2), shares) * (1 - 1e-12))
            assert measure(same, shares) == pytest.approx(measure(design, shares), rel=1e-6)


def test_theorem_4_fails_at_three_categories_with_large_ends() -> None:
    errors = [float(wrong_value(make(0.5, 3), ENDS)) for make in (laplace, response)]
    assert errors == pytest.approx([0.564134, 0.565063], abs=5e-7)
    assert worst(wrong_value, 10)[0] < -0.2


def test_theorem_4_fails_at_six_categories_by_the_squared_distance_of_equation_12() -> None:
    even = np.full(6, 1 / 6)
    errors = [float(squared_distance(make(1.0, 6), even)) for make in (laplace, response)]
    assert errors == pytest.approx([5.335871, 5.544223], abs=5e-7)
    assert fails_until(squared_distance, even) == pytest.approx(1.85, abs=0.01)


def test_individual_errors_are_those_of_draws_from_the_posterior() -> None:
    """A million individuals; six standard errors."""
    random, n = np.random.default_rng(3), 1_000_000
    design, shares = laplace(1.0, 4), np.array([0.4, 0.1, 0.2, 0.3])
    truth = random.choice(4, n, p=shares)
    report = (random.random(n)[:, None] > np.cumsum(design, axis=1)[truth]).sum(axis=1)
    joint = shares[:, None] * design
    posterior = np.cumsum(joint / joint.sum(axis=0), axis=0)
    estimate = (random.random(n)[:, None] > posterior.T[report]).sum(axis=1)
    wrong, apart = truth != estimate, (truth - estimate) ** 2
    assert abs(wrong.mean() - float(wrong_value(design, shares))) < 6 * wrong.std() / 1_000
    assert abs(apart.mean() - float(squared_distance(design, shares))) < 6 * apart.std() / 1_000
    guess = joint.argmax(axis=0)[report] != truth
    assert abs(guess.mean() - float(wrong_guess(design, shares))) < 6 * guess.std() / 1_000


def test_no_category_of_any_table_searched_has_less_variance_under_the_laplace_design() -> None:
    """The claim that the paper leaves open."""
    for t in (3, 6, 10):
        assert all(
            np.all(excess(share_variances, e, some_shares(t)) > 0) for e in (0.05, 0.5, 2.0, 8.0, 12.0)
        )


def test_the_mean_of_an_ordinal_attribute_has_less_variance_under_the_laplace_design() -> None:
    assert excess(mean_variance, 0.5, np.full(6, 1 / 6)) < -0.5
    scores, shares = np.arange(6), np.full(6, 1 / 6)
    by_hand = scores @ dispersion(laplace(0.5, 6), shares) @ scores
    assert mean_variance(laplace(0.5, 6), shares) == pytest.approx(by_hand)


def test_noise_of_the_global_sensitivity_wins_for_triangles_below_an_epsilon_that_no_graph_moves() -> None:
    """s2 is nearly 1 / epsilon^2 there, so it is nearly where sqrt(1 / pi) / epsilon^3 = 3 / epsilon."""
    assert triangles_cross() == pytest.approx(math.sqrt(1 / (3 * math.sqrt(math.pi))), rel=0.02)
    assert stats.norm.expect(abs) == pytest.approx(math.sqrt(2 / math.pi))
