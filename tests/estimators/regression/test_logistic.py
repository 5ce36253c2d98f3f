"""Logistic regression of a release against likelihoods that are written here again, and Logit without noise.

RRlog is the regression of Heck and Moshagen (2018, RRreg): a randomized outcome, covariates as they are, and
maximum likelihood. With randomized covariates as well the likelihood is that of all reports, with the
covariates' distribution unknown (van den Hout and Kooiman 2006).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize, root
from scipy.special import expit, logsumexp

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.regression.logistic import logistic
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.regression.made import matrix_of, opened_of, records_of
from tests.estimators.release_model import design, matrix, release, released_shares

SHAPE = (2, 3, 2)
SCORES = {"x": [0.0, 1.0, 2.5], "z": [0.0, 1.0]}
BETA = np.array([-0.8, 0.5, 0.6])
SHARES = np.array([[0.2, 0.15], [0.25, 0.1], [0.1, 0.2]])
UNTOUCHED = dict.fromkeys("yxz", 1.0)
FORMULA = "y ~ x + z"


def law():
    """The joint law of y, x, z."""
    eta = BETA[0] + BETA[1] * np.array(SCORES["x"])[:, None] + BETA[2] * np.array(SCORES["z"])
    return np.stack([SHARES * (1 - expit(eta)), SHARES * expit(eta)])


def originals(n: int, seed: int = 1):
    return np.random.default_rng(seed).multinomial(n, law().ravel()).reshape(SHAPE)


def designs(retentions):
    return [design(name, kept, range(r)) for (name, kept), r in zip(retentions.items(), SHAPE, strict=True)]


def released(n: int, retentions, seed: int = 1):
    return release(np.random.default_rng(seed), originals(n, seed), designs(retentions), 1)[0]


def fitted(counts, retentions, target="population", formula=FORMULA, noise_limit=1.0, **scores):
    opened = opened_of(formula, counts, retentions, SCORES | {"y": [0.0, 1.0]} | scores, categories=True)
    return logistic(opened, target, noise_limit)


def values(regression):
    return np.array([one.value for one in regression])


def errors(regression):
    return np.array([one.standard_error for one in regression])


# Likelihoods written again


def log_law(theta, retentions, formula_matrix):
    """log P(reports) of every cell from beta and the logits of the covariates' shares."""
    beta, logits = theta[: formula_matrix.shape[1]], np.append(theta[formula_matrix.shape[1] :], 0.0)
    shares = np.exp(logits - logsumexp(logits)).reshape(SHAPE[1:])
    ones = expit(formula_matrix @ beta).reshape(SHAPE[1:])
    return np.log(released_shares(np.stack([shares * (1 - ones), shares * ones]), designs(retentions)))


def grid_matrix():
    x, z = (np.array(SCORES[name]) for name in "xz")
    return np.stack([np.ones(6), np.repeat(x, 2), np.tile(z, 3)], axis=1)


def slopes(function, theta, step=1e-5):
    """The derivative of a table-valued function by central differences, its last axis by the parameters."""
    columns = []
    for place in range(theta.size):
        moved = np.zeros(theta.size)
        moved[place] = step
        columns.append((function(theta + moved) - function(theta - moved)) / (2 * step))
    return np.stack(columns, axis=-1)


def second_slopes(function, theta):
    """The second derivative of a number."""
    return slopes(lambda t: slopes(lambda s: np.array(function(s)), t, 1e-4), theta, 1e-4)


NOISY = {"y": 0.7, "x": 0.75, "z": 0.8}


def maximum(first):
    """The maximum of the likelihood of all reports, and minus its second derivative."""
    x = grid_matrix()

    def minus(theta):
        return -float(np.sum(first * log_law(theta, NOISY, x)))

    found = minimize(minus, np.zeros(8), method="BFGS", options={"gtol": 1e-7})
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxfev": 9000}
    theta = minimize(minus, found.x, method="Nelder-Mead", options=options).x
    return theta, second_slopes(minus, theta)


def test_with_randomized_covariates_it_is_the_maximum_of_the_likelihood_of_all_reports() -> None:
    counts = released(20_000, NOISY)
    theta, information = maximum(counts)
    found = fitted(counts, NOISY)
    expected = np.sqrt(np.diag(np.linalg.inv(information))[:3])
    assert np.abs(values(found) - theta[:3]).max() <= 1e-3 * expected.min()
    assert errors(found) == pytest.approx(expected, rel=1e-4)
    assert values(found) == pytest.approx(BETA, abs=4.5 * errors(found).max())


def test_survey_weights_maximize_their_likelihood_and_errors_are_its_sandwich() -> None:
    counts = released(20_000, NOISY)
    rng = np.random.default_rng(2)
    weight = rng.choice([0.5, 1.0, 3.0], counts.sum())
    index = np.ravel_multi_index(tuple(records_of(counts).T), SHAPE)
    first, second = (np.bincount(index, weight**k, counts.size).reshape(SHAPE) for k in (1, 2))
    theta, information = maximum(first)
    found = fitted(Counts(("y", "x", "z"), counts, first, second), NOISY)
    scores = slopes(lambda t: log_law(t, NOISY, grid_matrix()), theta).reshape(-1, 8)
    inverse = np.linalg.inv(information)
    sandwich = inverse @ (scores.T * second.reshape(-1)) @ scores @ inverse
    expected = np.sqrt(np.diag(sandwich)[:3])
    assert np.abs(values(found) - theta[:3]).max() <= 2e-3 * expected.min()
    assert errors(found) == pytest.approx(expected, rel=1e-3)
    assert "sandwich" in found.method


def test_with_covariates_as_they_are_it_is_rrlog() -> None:
    """prod (p(report | 1) pi_i + p(report | 0) (1 - pi_i)), by the record."""
    retentions = UNTOUCHED | {"y": 0.5}
    counts = released(3000, retentions)
    y, x, z = records_of(counts).T
    covariates = np.stack([np.ones(y.size), np.array(SCORES["x"])[x], z], axis=1)
    p = matrix(design("y", 0.5, [0, 1]))

    def minus(beta):
        ones = expit(covariates @ beta)
        return -float(np.sum(np.log(p[1, y] * ones + p[0, y] * (1 - ones))))

    found = minimize(minus, np.zeros(3), method="BFGS", options={"gtol": 1e-6})
    information = second_slopes(minus, found.x)
    expected = np.sqrt(np.diag(np.linalg.inv(information)))
    ours = fitted(counts, retentions)
    assert np.abs(values(ours) - found.x).max() <= 1e-3 * expected.min()
    assert errors(ours) == pytest.approx(expected, rel=1e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, rel=1e-9)


@pytest.mark.parametrize("formula", ["y ~ x + z", "y ~ C(x)*z", "y ~ 0 + x"])
def test_without_randomization_it_is_logit(formula: str) -> None:
    counts = originals(2000)
    opened = opened_of(formula, counts, UNTOUCHED, SCORES | {"y": [0.0, 1.0]}, categories=True)
    codes = dict(zip("yxz", records_of(counts).T, strict=True))
    expected = sm.Logit(codes["y"], matrix_of(opened, codes)).fit(disp=0, tol=1e-12)
    for target in ("population", "data"):
        found = logistic(opened, target)
        assert values(found) == pytest.approx(expected.params, rel=1e-6)
        assert [one.raw for one in found] == pytest.approx(list(expected.params), rel=1e-6)
    found = logistic(opened, "population")
    assert errors(found) == pytest.approx(expected.bse, rel=1e-6)
    assert found.log_likelihood == pytest.approx(expected.llf, rel=1e-9)
    assert [one.effective_n for one in found] == pytest.approx([2000.0] * len(found), rel=1e-6)


def test_for_the_data_it_solves_the_corrected_score_equations() -> None:
    """The same equations with a dense inverse and another solver."""
    counts = released(20_000, NOISY)
    table = counts / counts.sum()
    for axis, one in enumerate(designs(NOISY)):
        inverse = np.linalg.inv(matrix(one))
        table = np.moveaxis(np.tensordot(table, inverse, axes=(axis, 0)), -1, axis)
    x = grid_matrix()

    def score(beta):
        ones = expit(x @ beta)
        both = table.sum(axis=0).reshape(-1)
        return x.T @ (table[1].reshape(-1) - both * ones)

    expected = root(score, np.zeros(3), tol=1e-12).x
    assert values(fitted(counts, NOISY, "data")) == pytest.approx(expected, rel=1e-7)


def test_the_second_category_is_the_outcome_unless_scores_say_the_first() -> None:
    counts = released(5000, NOISY)
    second, first = fitted(counts, NOISY), fitted(counts, NOISY, y=[1.0, 0.0])
    assert values(first) == pytest.approx(-values(second), rel=1e-3)
    assert second.references[0] == "the outcome is the probability of y = 1"
    assert first.references[0] == "the outcome is the probability of y = 0"


def test_a_separated_outcome_is_refused_with_and_without_noise() -> None:
    counts = originals(2000).copy()
    counts[1, 0] += counts[0, 0]
    counts[0, 0] = 0
    with pytest.raises(NoiseError, match="infinity"):
        fitted(counts, UNTOUCHED, formula="y ~ C(x)", noise_limit=math.inf)
    noisy = released_shares(counts.astype(float), designs(NOISY)).round().astype(np.int64)
    noisy[1, 0] += 200
    with pytest.raises(NoiseError, match="infinity"):
        fitted(noisy, NOISY, formula="y ~ C(x)", noise_limit=math.inf)


def test_empty_combinations_of_covariates_are_told() -> None:
    table = np.zeros(SHAPE)
    table[:, [0, 1, 2], [0, 1, 1]] = law()[:, [0, 1, 2], [0, 1, 1]]
    counts = np.random.default_rng(4).multinomial(
        5000, released_shares(table / table.sum(), designs(NOISY)).ravel()
    )
    found = fitted(counts.reshape(SHAPE), NOISY)
    assert any("estimated to be empty" in note for note in found.notes)


def test_what_cannot_be_fitted_is_refused() -> None:
    counts = released(5000, NOISY)
    with pytest.raises(InputError, match="which has 3 categories"):
        fitted(counts, NOISY, formula="x ~ y")
    with pytest.raises(InputError, match="which is no attribute"):
        fitted(counts, NOISY, formula="I(1 - y) ~ x")
    with pytest.raises(InputError, match="sum of multiples"):
        fitted(counts, NOISY, formula="y ~ x + I(x + 1)")
    with pytest.raises(InputError, match="fewer than 10 for each"):
        fitted(released(40, NOISY), NOISY)
    with pytest.raises(NoiseError, match="noise"):
        fitted(released(300, dict.fromkeys("yxz", 0.15)), dict.fromkeys("yxz", 0.15))


def test_an_error_that_the_likelihood_does_not_know_is_refused(monkeypatch) -> None:
    # an inverse that is not positive by rounding: of a nearly empty column it may be
    monkeypatch.setattr(
        "budget_opt.estimators.regression.likelihood.inverse_of", lambda matrix: -np.eye(len(matrix))
    )
    retentions = dict.fromkeys("yxz", 0.9)
    with pytest.raises(NoiseError, match="its error is not known, since the likelihood hardly depends on it"):
        fitted(released(2000, retentions), retentions)


SMALL = {"x": 0.9, "y": 0.9}


def test_a_coefficient_above_its_limit_is_refused_by_name() -> None:
    """Its range was a number of numpy's, whose text no decimal is."""
    opened = opened_of("y ~ x", np.array([[73, 14], [10, 1], [2, 0]]), SMALL, {}, categories=True)
    with pytest.raises(NoiseError, match="noise_limit="):
        logistic(opened, "population")


def test_rows_that_carry_no_weight_are_no_rows() -> None:
    counts = released(500, NOISY)
    weights = np.zeros(SHAPE)
    weights[0, 0, 0] = 1.0
    with pytest.raises(InputError, match="500 rows, which their weights make worth 1"):
        fitted(Counts(("y", "x", "z"), counts, weights, weights), NOISY)
    heavy = np.where(np.arange(12).reshape(SHAPE) == 0, 1.0, 1e-3)
    for target in ("population", "data"):
        with pytest.raises(InputError, match="or as many as weighted ones are worth"):
            fitted(Counts(("y", "x", "z"), counts, heavy * counts, heavy**2 * counts), NOISY, target)


def test_a_singular_matrix_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("budget_opt.estimators.regression.logistic.maximum_of", fails)
    with pytest.raises(NoiseError, match="a matrix is singular"):
        fitted(released(2000, NOISY), NOISY)


def test_methods_are_those_of_the_target() -> None:
    opened = opened_of(FORMULA, released(20_000, NOISY), NOISY, SCORES, categories=True)
    scored = logistic(opened, "population", method="corrected score")
    data = logistic(opened, "data", method="corrected score")
    assert list(values(scored)) == list(values(data)) == list(values(logistic(opened, "data")))
    assert all(one.standard_error > two.standard_error for one, two in zip(scored, data, strict=True))
    assert scored.log_likelihood is None
    assert "sampling and the randomization" in scored.method
    with pytest.raises(InputError, match="does not estimate the fit of the data"):
        logistic(opened, "data", method="likelihood")
    with pytest.raises(InputError, match='"likelihood" or "corrected score"'):
        logistic(opened, "population", method="moments")


def test_without_noise_the_corrected_score_has_the_errors_of_a_sandwich() -> None:
    counts = originals(2000)
    opened = opened_of(FORMULA, counts, UNTOUCHED, SCORES, categories=True)
    codes = dict(zip("yxz", records_of(counts).T, strict=True))
    expected = sm.Logit(codes["y"], matrix_of(opened, codes)).fit(disp=0, tol=1e-12, cov_type="HC0")
    found = logistic(opened, "population", method="corrected score")
    assert errors(found) == pytest.approx(expected.bse, rel=1e-6)


def test_a_false_model_is_told_and_a_true_one_is_not() -> None:
    """P(y | x) is no logistic function of x in the first table, and is in the second."""
    retentions = {"x": 0.5, "y": 0.8}
    shares, ones = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.5, 0.6])
    for chances, said in ((ones, "the logistic model does not hold"), (expit(np.arange(3) - 1), "agree")):
        law_of = np.stack([shares * (1 - chances), shares * chances], axis=1)
        reports = released_shares(law_of, [design("x", 0.5, range(3)), design("y", 0.8, range(2))])
        opened = opened_of("y ~ x", (60_000 * reports).round().astype(int), retentions, {}, categories=True)
        found = logistic(opened, "population")
        assert said in found.notes[0]
        assert ("a sandwich" in found.method) == (chances is ones)
