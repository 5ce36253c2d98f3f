"""R30: unbiasedness, standard errors and coverage by 10,000 repetitions, each target against its own truth.

Means are compared at 6 standard deviations of the simulation (false alarm 2e-9), seeds are fixed. Coverage is
asked to lie between 94 and 96 % for every cell with `FEW_EVENTS` chance events or more; the simulation's own
standard deviation is 0.2 %. Detectable faults: a standard error off by 5 %, a plain interval on a rare cell.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.estimate import Target, normal_quantile
from budget_opt.estimators.joint.agreement import power_factors
from budget_opt.estimators.joint.cell_errors import FEW_EVENTS, cell_errors, given_law, sampled_law
from budget_opt.mechanisms.randomized_response import retention
from tests.estimators.joint.dense import NAMES, REPETITIONS, channels, counts, matrix, releases
from tests.estimators.release_model import skewed, sparse

TABLES = {"skewed": skewed, "sparse": sparse}


def at(epsilon: float, shape: tuple[int, ...]) -> tuple[Channel, ...]:
    return tuple(
        Channel(name, float(retention(epsilon, r)), uniform(r)) for name, r in zip(NAMES, shape, strict=False)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "shape", "epsilon", "n", "target"),
    [
        ("skewed", (3, 4), 1.0, 1000, "data"),
        ("skewed", (3, 4), 0.5, 1000, "population"),
        ("sparse", (3, 4), 3.0, 3000, "population"),
        ("sparse", (2, 3, 4), 3.0, 20000, "data"),
    ],
)
def test_r30_cells_are_unbiased_and_their_intervals_cover(
    kind: str, shape: tuple[int, ...], epsilon: float, n: int, target: Target
) -> None:
    given = at(epsilon, shape)
    shares = TABLES[kind](np.random.default_rng(11), shape)
    truth, drawn = releases(shares, given, n, target, seed=12)
    total, squares, variances, covered, enough = (np.zeros(shape) for _ in range(5))
    for counted in drawn:
        errors = cell_errors(counted, given, target)
        low, high = errors.interval()
        total += errors.shares
        squares += (errors.shares - truth) ** 2
        variances += errors.standard_errors**2
        covered += (low <= truth) & (truth <= high)
        enough += ~errors.few
    measured = squares / REPETITIONS
    assert np.all(np.abs(total / REPETITIONS - truth) <= 6 * np.sqrt(measured / REPETITIONS))
    judged = enough > 0.9 * REPETITIONS
    assert judged.sum() >= 3
    # a variance of 10,000 values is known to 1.5 %; the least variance makes few events seem to vary more
    assert variances[judged] / REPETITIONS == pytest.approx(measured[judged], rel=0.07)
    assert np.all(variances / REPETITIONS >= 0.9 * measured)
    assert np.all(covered[judged] >= 0.94 * REPETITIONS)
    assert np.all(covered[judged] <= 0.96 * REPETITIONS)
    assert np.all(covered[~judged] >= 0.93 * REPETITIONS)


def test_without_randomization_the_interval_is_that_of_wilson() -> None:
    rows = np.array([3, 0, 17, 980])
    errors = cell_errors(counts(rows), channels((4,), (1.0,)), "population")
    n, z = 1000, normal_quantile(0.95)
    p = rows / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    wider = np.where(errors.few, 1 / (2 * n), 0)
    low, high = errors.interval()
    # the variance here is the unbiased one, n / (n - 1) times Wilson's
    assert low == pytest.approx(np.maximum(middle - half - wider, 0), abs=3e-5)
    assert high == pytest.approx(np.minimum(middle + half + wider, 1), abs=3e-5)
    assert errors.few.tolist() == [True, False, True, True]
    given_data = cell_errors(counts(rows), channels((4,), (1.0,)), "data")
    assert np.all(given_data.standard_errors == 0)


@pytest.mark.parametrize("skew", [False, True])
def test_moments_of_the_scores_are_those_of_the_dense_matrix(skew: bool) -> None:
    shape = (2, 3)
    given = channels(shape, (0.5, 0.8), skewed=skew)
    p = matrix(given)
    h = np.linalg.inv(p)
    table = skewed(np.random.default_rng(13), shape)
    for power in (1, 2, 3, 4):
        assert power_factors(given, power).mean(table).ravel() == pytest.approx(
            table.ravel() @ (p @ h**power), rel=1e-9, abs=1e-12
        )
    reports = table.ravel() @ p
    central = [reports @ (h - table.ravel()) ** k for k in (2, 3, 4)]
    law = sampled_law(table, given)
    assert law.variance.ravel() == pytest.approx(central[0], rel=1e-9)
    assert law.third.ravel() == pytest.approx(central[1], rel=1e-9)
    assert law.fourth.ravel() == pytest.approx(central[2] - 3 * central[0] ** 2, rel=1e-8)
    inside = np.zeros((3, 6))
    for share, row, truth in zip(table.ravel(), p, np.eye(6), strict=True):
        moments = [row @ (h - truth) ** k for k in (2, 3, 4)]
        inside += share * np.array([moments[0], moments[1], moments[2] - 3 * moments[0] ** 2])
    law = given_law(table, given)
    for found, expected in zip((law.variance, law.third, law.fourth), inside, strict=True):
        assert found.ravel() == pytest.approx(expected, rel=1e-8)


def test_a_count_of_rare_events_has_as_many_events_as_it_counts() -> None:
    """Without randomization a cell of mu in n rows is nearly Poisson, whose V^2 / K4 is mu."""
    rows = np.array([25, 100_000 - 25])
    events = cell_errors(counts(rows), channels((2,), (1.0,)), "population").events
    assert events == pytest.approx([25, 25], rel=0.01)
    assert FEW_EVENTS > 25


@pytest.mark.parametrize("target", ["population", "data"])
def test_intervals_of_a_higher_level_contain_those_of_a_lower_one(target: Target) -> None:
    rows = np.array([[50, 40, 32], [60, 31, 80]])
    errors = cell_errors(counts(rows), channels((2, 3), (0.6, 0.9)), target)
    low, high = errors.interval(0.5)
    for level in (0.8, 0.95, 0.999):
        lower, higher = errors.interval(level)
        assert np.all((lower <= low) & (higher >= high))
        low, high = lower, higher
    assert np.all((low >= 0) & (high <= 1))


def test_expected_distance_of_a_normal_error_is_its_standard_error_times_root_2_over_pi() -> None:
    draws = np.abs(np.random.default_rng(14).normal(size=200_000))
    assert draws.mean() == pytest.approx(math.sqrt(2 / math.pi), abs=6 * 0.603 / math.sqrt(200_000))
