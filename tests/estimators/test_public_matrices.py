"""Covariances and correlations with public columns: no noise in these, and the moment elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.estimators.estimate import Target
from tests.estimators.test_public_moments import ALLOCATION, PROBLEM, SCORES, originals

NAMES = ("income", "size", "smoker", "wave")
GIVEN = {"wave": {"early": 0.0, "late": 2.0}}


def numbers(table: pd.DataFrame) -> np.ndarray:
    """The scores of all columns, a row each."""
    return np.stack(
        [SCORES[table["income"]], table["smoker"], table["size"], 2.0 * (table["wave"] == "late")]
    )[[0, 2, 1, 3]]


def test_at_a_large_epsilon_the_matrices_are_the_tables_own() -> None:
    table = originals(500, np.random.default_rng(1))
    allocation = bo.uniform(PROBLEM.with_total(2000.0))
    released = bo.randomize(table, allocation)
    made = bo.estimate.covariance(released, allocation, *NAMES, scores=GIVEN, target="data")
    expected = np.cov(numbers(table), ddof=0)
    assert made.attributes == NAMES
    assert made.values == pytest.approx(expected, rel=1e-9)
    assert np.all(made.standard_errors < 1e-6)
    correlation = bo.estimate.correlation(released, allocation, *NAMES, scores=GIVEN)
    assert correlation.values == pytest.approx(np.corrcoef(numbers(table)), rel=1e-9)


@pytest.mark.parametrize("target", ["population", "data"])
def test_every_pair_with_an_attribute_is_its_moment_and_public_pairs_are_as_they_are(target: Target) -> None:
    table = originals(800, np.random.default_rng(2))
    released = bo.randomize(table, ALLOCATION)
    made = bo.estimate.covariance(released, ALLOCATION, *NAMES, scores=GIVEN, target=target)
    for a, b in (("income", "size"), ("size", "smoker"), ("smoker", "wave"), ("income", "smoker")):
        own = {name: one for name, one in GIVEN.items() if name in (a, b)}
        moment = bo.estimate.moment(released, ALLOCATION, a, b, scores=own, target=target)
        entry = made[a, b]
        assert entry.value == pytest.approx(moment.value, rel=1e-9)
        assert entry.standard_error == pytest.approx(moment.standard_error, rel=1e-9)
        assert entry.interval() == pytest.approx(moment.interval(), rel=1e-9)
    centred = numbers(table) - numbers(table).mean(axis=1, keepdims=True)
    products, spread = centred[1] * centred[3], centred[1] ** 2
    for (a, b), mean in ((("size", "wave"), products), (("size", "size"), spread)):
        error = made[a, b].standard_error
        assert error == pytest.approx(0 if target == "data" else mean.std() / np.sqrt(799), rel=1e-2, abs=0)
    assert made["size", "wave"].value == pytest.approx(products.mean(), rel=1e-12)


def test_a_bootstrap_draws_again_what_was_randomized_alone() -> None:
    released = bo.randomize(originals(300, np.random.default_rng(3)), ALLOCATION)
    made = bo.estimate.covariance(
        released,
        ALLOCATION,
        "income",
        "size",
        "wave",
        scores=GIVEN,
        target="data",
        bootstrap=20,
        noise_limit=9,
    )
    assert made.bootstrap is not None
    assert np.abs(made.bootstrap[:, 1:, 1:]).max() < 1e-12
    assert np.ptp(made.bootstrap[:, 0, 1]) > 0


@pytest.mark.parametrize(
    ("names", "scores", "told"),
    [
        (("size", "wave"), GIVEN, "public columns alone"),
        (("income", "size"), GIVEN, "scores: 'wave' is not in the matrix"),
        (("income", "wave"), {"wave": [0, 1]}, "must map"),
        (("income", "size", "size"), None, "named 2 times"),
        (("income", "sise"), None, "is not an attribute of the allocation"),
    ],
)
def test_what_a_matrix_cannot_have_is_said(names: tuple[str, ...], scores: Any, told: str) -> None:
    released = bo.randomize(originals(50, np.random.default_rng(3)), ALLOCATION)
    with pytest.raises(InputError, match=told):
        bo.estimate.correlation(released, ALLOCATION, *names, scores=scores)


def test_text_is_no_number_in_a_matrix() -> None:
    released = bo.randomize(originals(50, np.random.default_rng(3)), ALLOCATION)
    with pytest.raises(bo.DataError, match=r"holds categories, give scores=\{"):
        bo.estimate.covariance(released, ALLOCATION, "income", "wave")
