"""What methods expect of their own error, against the truth; and the releases that it is drawn from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.cell_errors import cell_errors
from budget_opt.estimators.joint.drawing import drawn_originals, drawn_reports
from budget_opt.estimators.joint.methods import METHODS, method_named
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.own_error import Bootstrap, require_useful
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.joint.dense import channels, counts, matrix
from tests.estimators.release_model import FloatArray, skewed, sparse

TARGETS: tuple[Target, ...] = ("population", "data")
FACTORS = {"skewed": (0.85, 1.2), "sparse": (0.85, 1.4)}
"""Between which the mean expected AVD is that of the true one, over 60 releases.

A projected table of a sparse one is less sparse than the truth, so that its bootstrap expects more noise.
"""


def test_drawn_reports_have_the_law_of_the_dense_matrix_whatever_the_truth() -> None:
    """Mean and covariance given the originals; 6 sigma at 4,000 draws, false alarm 2e-9 a number."""
    given = channels((2, 3), (0.4, 0.7), skewed=True)
    rng = np.random.default_rng(21)
    originals = np.array([[30, 0, 5], [1, 60, 4]])
    draws = np.array([drawn_reports(originals, given, rng).ravel() for _ in range(4000)])
    p = matrix(given)
    mean = originals.ravel() @ p
    covariance = sum(
        n * (np.diag(law) - np.outer(law, law)) for n, law in zip(originals.ravel(), p, strict=True)
    )
    assert np.all(draws.sum(axis=1) == 100)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 6 * np.sqrt(np.diag(covariance) / 4000))
    spread = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 6 * math.sqrt(2 / 4000) * spread)


def test_releases_of_2_to_the_40_rows_are_drawn_as_fast_as_small_ones() -> None:
    rng = np.random.default_rng(22)
    originals = drawn_originals(np.full((2, 2), 0.25), 2**40, rng)
    reports = drawn_reports(originals, channels((2, 2), (0.5, 0.5)), rng)
    assert originals.sum() == reports.sum() == 2**40


@pytest.mark.parametrize(
    ("kind", "method", "target"),
    [
        (kind, method, TARGETS[(place + other) % 2])
        for place, kind in enumerate(["skewed", "sparse"])
        for other, method in enumerate(["unbiased", "simplex", "truncated"])
    ],
)
def test_the_expected_avd_is_that_of_the_true_one(kind: str, method: str, target: Target) -> None:
    shape, n = (3, 4, 2), 2000
    shares = {"skewed": skewed, "sparse": sparse}[kind](np.random.default_rng(23), shape)
    given = channels(shape, (0.55, 0.6, 0.5))
    true, expected = calibration(method, shares, n, given, target)
    least, most = FACTORS[kind]
    assert least < expected / true < most


def calibration(
    method: str, shares: FloatArray, n: int, given: tuple[Channel, ...], target: Target
) -> tuple[float, float]:
    """The mean true AVD and the mean expected one over 60 releases."""
    chosen, rng = METHODS[method], np.random.default_rng(24)
    true, expected = [], []
    for _ in range(60):
        originals = drawn_originals(shares, n, rng)
        released = counts(drawn_reports(originals, given, rng))
        solution = chosen.run(released, given, rng)
        truth = shares if target == "population" else originals / n
        true.append(variation_distance(truth, solution.shares))
        expected.append(chosen.own_judge(released, given, solution, target, rng).expected_avd)
    return float(np.mean(true)), float(np.mean(expected))


@pytest.mark.parametrize("target", TARGETS)
def test_bootstrap_errors_of_the_unbiased_table_are_its_errors_by_formula(target: Target) -> None:
    """2,000 replicates know an error to 1.6 %: 10 % is 6 sigma."""
    given = channels((2, 3), (0.5, 0.8))
    table = skewed(np.random.default_rng(25), (2, 3))
    released = counts(np.rint(20_000 * along_all(Channel.spread, given, table)).astype(np.int64))
    solution = unbiased(released, given)
    run = METHODS["unbiased"].run
    drawing = Bootstrap(released, given, run, solution, target)
    errors = drawing.standard_errors(2000, np.random.default_rng(26))
    assert errors == pytest.approx(cell_errors(released, given, target).standard_errors, rel=0.1)
    again = drawing.standard_errors(50, np.random.default_rng(27))
    assert np.array_equal(again, drawing.standard_errors(50, np.random.default_rng(27)))
    with pytest.raises(InputError, match="from 2 to 100,000"):
        drawing.standard_errors(1, np.random.default_rng(27))


def test_survey_weights_draw_as_many_rows_as_they_are_worth() -> None:
    given = channels((2,), (0.5,))
    weighted = Counts(("a",), np.array([400, 400]), np.array([400.0, 1200.0]), np.array([400.0, 3600.0]))
    run = METHODS["simplex"].run
    drawing = Bootstrap(weighted, given, run, np.array([0.5, 0.5]), "data")
    truth, _ = drawing.replicate(np.random.default_rng(28))
    assert weighted.effective == pytest.approx(640)
    assert truth * 640 == pytest.approx(np.rint(truth * 640), abs=1e-9)


def test_every_method_says_what_it_is_and_what_is_wrong_with_it() -> None:
    for name, method in METHODS.items():
        assert name == method.name
        assert method.title
        assert method.bias.endswith(".")
    with pytest.raises(InputError, match="Did you mean 'simplex'"):
        method_named("simplx")
    with pytest.raises(InputError, match="must be one of"):
        method_named(3)


def test_normalised_methods_give_shares_and_all_give_the_same_again() -> None:
    given = channels((3, 4), (0.3, 0.4))
    released = counts(np.random.default_rng(29).integers(0, 60, (3, 4)))
    for method in METHODS.values():
        shares, again = (method.run(released, given, np.random.default_rng(30)).shares for _ in range(2))
        assert np.array_equal(shares, again), method.name
        assert shares.shape == (3, 4)
        if method.is_normalised:
            assert np.all(shares >= 0), method.name
            assert shares.sum() == pytest.approx(1, abs=1e-9), method.name


def test_a_table_of_noise_is_refused_with_its_size_and_the_way_out() -> None:
    require_useful("the table", 0.99, 1.0, "")
    require_useful("the table", 80.0, math.inf, "")
    with pytest.raises(NoiseError, match="Use method='default'") as caught:
        require_useful("the table", 1.5, 1.0, "Use method='default'. ")
    assert (caught.value.standard_error, caught.value.limit) == (1.5, 1.0)
    with pytest.raises(InputError, match="noise_limit"):
        require_useful("the table", 0.1, 0.0, "")
