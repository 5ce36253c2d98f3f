"""How much of the unbiased table is taken: none in noise, and all where a model is seen to miss."""

from __future__ import annotations

import math

import numpy as np
import pytest

from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.joint.blend import SquaredNoise, blended, misfit_of, squared_noise
from budget_opt.estimators.joint.drawing import drawn_originals, drawn_reports
from budget_opt.estimators.joint.error_bounds import squared_error
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.unbiased import unbiased
from tests.estimators.joint.dense import channels, counts, covariance, random_counts
from tests.estimators.release_model import skewed


@pytest.mark.parametrize("shape", [(4,), (2, 3), (3, 2, 4)])
def test_the_noise_of_a_uniform_background_is_the_exact_one_whatever_the_counts(shape) -> None:
    counted = random_counts(np.random.default_rng(1), shape)
    given = channels(shape, (0.3, 0.6, 0.5))
    assert squared_noise(counted, given).mean == pytest.approx(squared_error(given, counted.n), rel=1e-12)
    weighted = random_counts(np.random.default_rng(2), shape, weighted=True)
    assert squared_noise(weighted, given).mean == pytest.approx(squared_error(given, weighted.effective))


@pytest.mark.parametrize("background", ["uniform", "skewed"])
def test_the_noise_is_that_of_the_covariance_matrix_of_all_cells(background) -> None:
    """Its trace, and that of its square, given the data."""
    shape = (3, 2, 4)
    given = channels(shape, (0.3, 0.4, 0.35), skewed=background == "skewed")
    expected = along_all(Channel.spread, given, skewed(np.random.default_rng(3), shape))
    counted = counts(np.rint(5000 * expected).astype(np.int64))
    assert unbiased(counted, given).min() > 0
    noise = squared_noise(counted, given)
    dense = covariance(counted, given, "data")
    assert noise.mean == pytest.approx(np.trace(dense), rel=1e-9)
    assert noise.spread == pytest.approx(math.sqrt(2 * np.sum(dense**2)), rel=1e-9)


def test_the_misfit_of_a_given_table_is_its_squared_error_on_the_mean() -> None:
    """600 releases of one data table; 6 standard errors."""
    given = channels((3, 3), (0.5, 0.6), skewed=True)
    rng = np.random.default_rng(4)
    data = drawn_originals(skewed(rng, (3, 3)), 800, rng)
    model = np.full((3, 3), 1 / 9)
    found = [misfit_of(model, counts(drawn_reports(data, given, rng)), given)[0] for _ in range(600)]
    truth = float(np.sum((data / 800 - model) ** 2))
    assert abs(np.mean(found) - truth) < 6 * np.std(found) / math.sqrt(600)


def test_the_gate_is_the_quantile_of_a_gamma_law_and_of_many_cells_that_of_a_normal_one() -> None:
    assert SquaredNoise(2.0, 2.0).gate == pytest.approx(2 * math.log(1000))  # exponential
    assert SquaredNoise(1.0, 1e-3).gate == pytest.approx(1 + 3.0902e-3, abs=1e-5)
    assert SquaredNoise(3.0, 0.0).gate == 3
    assert SquaredNoise(0.0, 1e-9).gate == 0
    assert SquaredNoise(1e-12, 1e-8).gate < 1e-6


def test_noise_alone_moves_a_true_model_nearly_never() -> None:
    shape, given = (3, 4, 2), channels((3, 4, 2), (0.3, 0.3, 0.3))
    rng = np.random.default_rng(5)
    truth = skewed(rng, shape)
    weights = []
    for _ in range(150):
        released = counts(drawn_reports(drawn_originals(truth, 1000, rng), given, rng))
        blend = blended(truth, released, given)
        weights.append(blend.weight)
        if blend.weight == 0:
            assert blend.shares is truth
    assert np.mean(np.array(weights) > 0) <= 0.01


def test_a_model_that_misses_is_left_as_far_as_the_rows_show_it() -> None:
    shape, given = (3, 3), channels((3, 3), (0.6, 0.6))
    truth = np.diag([0.5, 0.3, 0.2])
    model = np.outer([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])
    rng = np.random.default_rng(6)
    before = 0.0
    for n in (300, 3_000, 300_000):
        released = counts(drawn_reports(drawn_originals(truth, n, rng), given, rng))
        blend = blended(model, released, given)
        assert blend.weight > before
        before = blend.weight
        assert variation_distance(truth, blend.shares) < 0.5 * variation_distance(truth, model)
        assert blend.shares.min() >= 0
        assert blend.shares.sum() == pytest.approx(1, abs=1e-12)
    assert before > 0.99
    assert blend.shares == pytest.approx(truth, abs=0.01)
    assert model.shape == shape


def test_without_randomization_the_table_itself_is_taken() -> None:
    counted = random_counts(np.random.default_rng(7), (3, 4))
    given = channels((3, 4), (1.0, 1.0))
    assert squared_noise(counted, given).mean == 0
    assert squared_noise(counted, given).spread < 1e-9
    blend = blended(np.full((3, 4), 1 / 12), counted, given)
    assert blend.weight == 1
    assert blend.shares == pytest.approx(counted.shares, abs=1e-15)
    assert blended(counted.shares, counted, given).weight == 0
