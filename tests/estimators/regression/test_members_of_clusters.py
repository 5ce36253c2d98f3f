"""Regressions with members of one cluster: unbiased moments, the likelihood of all reports, and coverage."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.regression.corrected_score import corrected_score
from budget_opt.estimators.regression.features import LARGEST_TABLE, Features, features_of
from budget_opt.estimators.regression.grid import grid_of
from budget_opt.estimators.regression.least_squares import least_squares
from budget_opt.estimators.regression.logistic import logistic
from budget_opt.estimators.regression.slopes import coefficient_of
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.regression.made import one_cell, opened_of, records_of
from tests.estimators.regression.test_linear_by_simulation import SCORES, SHAPE, truth_of
from tests.estimators.regression.test_logistic import (
    BETA,
    errors,
    grid_matrix,
    law,
    second_slopes,
    slopes,
    values,
)
from tests.estimators.regression.test_logistic import SCORES as OF_TWO
from tests.estimators.regression.test_logistic import SHAPE as OF_LOGISTIC
from tests.estimators.release_model import design, release, released_shares, skewed

CLUSTERS = {"covariates": {"x": "x + z", "z": "x + z"}, "outcome": {"y": "y + x", "x": "y + x"}}
KEPT = {"covariates": {"y": 0.6, "x": 0.65, "z": 0.65}, "outcome": {"y": 0.65, "x": 0.65, "z": 0.7}}
FORMULA = "y ~ x + z"


def designs(kind: str, shape: tuple[int, ...] = SHAPE):
    return [
        design(name, KEPT[kind][name], range(r), cluster=CLUSTERS[kind].get(name))
        for name, r in zip("yxz", shape, strict=True)
    ]


def parts_of(kind: str, formula: str = FORMULA):
    """The features of one row in each cell, and where pairs stand."""
    table = np.ones(SHAPE, dtype=np.int64)
    opened = opened_of(formula, table, KEPT[kind], SCORES, clusters=CLUSTERS[kind])
    functions = [{"y": np.array(SCORES["y"])}, *(column.functions for column in opened.columns.columns)]
    every = [features_of(functions, one_cell(cell), opened.channels) for cell in np.ndindex(SHAPE)]
    parts = ("first", "gram", "original")
    stacked = (np.stack([getattr(one, part) for one in every], axis=-1) for part in parts)
    return functions, every[0].places, *stacked


@pytest.mark.parametrize("kind", list(CLUSTERS))
def test_r29_moments_of_members_are_unbiased_given_the_record(kind: str) -> None:
    """Of any two and four functions, over all reports of some records."""
    functions, places, first, _, original = parts_of(kind, "y ~ x*z")
    for record in product((0, 2), (0, 1), (0, 1)):
        point = np.zeros(SHAPE)
        point[record] = 1
        chances = released_shares(point, designs(kind)).ravel()
        cell = dict(zip("yxz", record, strict=True))
        z = [math.prod(f[name][cell[name]] for name in f) for f in functions]
        pairs = np.zeros(first.shape[0])
        pairs[places] = np.outer(z, z)
        assert first @ chances == pytest.approx(pairs, abs=1e-10)
        assert original @ chances == pytest.approx(np.outer(pairs, pairs), abs=1e-8)


def log_law(theta, kind: str):
    """log P(reports) of every cell from beta and the logits of the covariates' shares."""
    logits = np.append(theta[3:], 0.0)
    shares = np.exp(logits - logsumexp(logits)).reshape(OF_LOGISTIC[1:])
    ones = expit(grid_matrix() @ theta[:3]).reshape(OF_LOGISTIC[1:])
    truths = np.stack([shares * (1 - ones), shares * ones])
    return np.log(released_shares(truths, designs(kind, OF_LOGISTIC)))


def maximum_of_likelihood(first, kind: str):
    """Of all reports, with weights `first`."""

    def minus(theta):
        return -float(np.sum(first * log_law(theta, kind)))

    found = minimize(minus, np.zeros(8), method="BFGS", options={"gtol": 1e-7})
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxfev": 9000}
    return minimize(minus, found.x, method="Nelder-Mead", options=options).x


@pytest.mark.parametrize("kind", list(CLUSTERS))
def test_a_logistic_fit_is_the_maximum_of_the_likelihood_of_reports_of_clusters(kind: str) -> None:
    """Two covariates in a cluster, or the outcome and a covariate; the errors are its information's."""
    rng = np.random.default_rng(5)
    counts = release(
        rng, rng.multinomial(20_000, law().ravel()).reshape(OF_LOGISTIC), designs(kind, OF_LOGISTIC), 1
    )[0]
    opened = opened_of(
        FORMULA, counts, KEPT[kind], OF_TWO | {"y": [0.0, 1.0]}, categories=True, clusters=CLUSTERS[kind]
    )

    theta = maximum_of_likelihood(counts, kind)
    information = second_slopes(lambda t: -float(np.sum(counts * log_law(t, kind))), theta)
    expected = np.sqrt(np.diag(np.linalg.inv(information))[:3])
    fitted = logistic(opened, "population")
    assert np.abs(values(fitted) - theta[:3]).max() <= 1e-3 * expected.min()
    assert errors(fitted) == pytest.approx(expected, rel=1e-4)
    assert values(fitted) == pytest.approx(BETA, abs=4.5 * errors(fitted).max())


@pytest.mark.parametrize("kind", list(CLUSTERS))
def test_sandwich_errors_of_survey_weights_rest_on_the_scores_of_the_reports_of_clusters(kind: str) -> None:
    rng = np.random.default_rng(6)
    originals = rng.multinomial(20_000, law().ravel()).reshape(OF_LOGISTIC)
    counts = release(rng, originals, designs(kind, OF_LOGISTIC), 1)[0]
    weight = rng.choice([0.5, 1.0, 3.0], counts.sum())
    index = np.ravel_multi_index(tuple(records_of(counts).T), OF_LOGISTIC)
    first, second = (np.bincount(index, weight**k, counts.size).reshape(OF_LOGISTIC) for k in (1, 2))
    theta = maximum_of_likelihood(first, kind)
    opened = opened_of(
        FORMULA,
        Counts(tuple("yxz"), counts, first, second),
        KEPT[kind],
        OF_TWO | {"y": [0.0, 1.0]},
        categories=True,
        clusters=CLUSTERS[kind],
    )
    scores = slopes(lambda t: log_law(t, kind), theta).reshape(-1, 8)
    inverse = np.linalg.inv(second_slopes(lambda t: -float(np.sum(first * log_law(t, kind))), theta))
    sandwich = inverse @ (scores.T * second.reshape(-1)) @ scores @ inverse
    assert errors(logistic(opened, "population")) == pytest.approx(np.sqrt(np.diag(sandwich)[:3]), rel=1e-3)


@pytest.mark.parametrize("kind", list(CLUSTERS))
def test_the_corrected_score_of_expected_reports_of_clusters_is_the_fit_of_the_truths(kind: str) -> None:
    reports = np.rint(released_shares(law(), designs(kind, OF_LOGISTIC)) * 10**12).astype(np.int64)
    opened = opened_of(
        FORMULA, reports, KEPT[kind], OF_TWO | {"y": [0.0, 1.0]}, categories=True, clusters=CLUSTERS[kind]
    )
    functions = [column.functions for column in opened.columns.columns]
    grid = grid_of(opened, functions, np.array([0, 1]))
    assert corrected_score(grid, np.zeros(3)).beta == pytest.approx(BETA, abs=1e-6)


def test_a_product_of_members_with_too_large_a_table_is_refused_with_the_way_out() -> None:
    r = math.isqrt(LARGEST_TABLE) + 1
    members = [Channel(name, 0.5, uniform(r), cluster="a + b") for name in "ab"]
    functions = [{"a": np.arange(r) / r}, {"b": np.arange(r) / r}]
    with pytest.raises(InputError, match="Use at most one of them"):
        features_of(functions, one_cell((0, 1)), members)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "target"), [("covariates", "data"), ("outcome", "population")])
def test_r30_linear_regressions_with_members_cover_in_94_to_96_of_100(kind: str, target) -> None:
    """10,000 releases: two covariates in a cluster, and the outcome in one with a covariate."""
    repetitions, n = 10_000, 3000
    rng = np.random.default_rng(20)
    shares = skewed(rng, SHAPE)
    if target == "population":
        truth = truth_of(shares)
        tables = rng.multinomial(n, released_shares(shares, designs(kind)).ravel(), repetitions)
    else:
        originals = rng.multinomial(n, shares.ravel()).reshape(SHAPE)
        truth = truth_of(originals)
        tables = release(rng, originals, designs(kind), repetitions).reshape(repetitions, -1)
    _, places, first, gram, original = parts_of(kind)
    found = np.empty((repetitions, 3, 4))
    for place, table in enumerate(tables):
        features = Features(places, first @ (table / n), gram @ (table / n**2), original @ (table / n**2))
        for column, slope in enumerate(least_squares(features, np.eye(3), n).slopes):
            one = coefficient_of("", slope, n, target)
            found[place, column] = one.value, one.standard_error, *one.interval()
    estimates, stated, low, high = np.moveaxis(found, -1, 0)
    covered = np.mean((low <= truth) & (truth <= high), axis=0)
    assert np.all((covered >= 0.94) & (covered <= 0.96)), covered
    assert np.sqrt((stated**2).mean(axis=0)) == pytest.approx(estimates.std(axis=0), rel=0.12)
