"""The laws of another background from problem to estimate: price, Theorem 1, marginal, coverage (2.1)."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.randomized_response import retention

MARGINAL = (0.6, 0.3, 0.1)
backgrounds = st.lists(st.integers(1, 60), min_size=2, max_size=5).map(
    lambda counts: [count / sum(counts) for count in counts]
)


def asked(background: object = "marginal", **fields: object) -> bo.Problem:
    return bo.Problem(
        **{
            "attributes": [
                bo.Attribute("x", categories=3, marginal=MARGINAL, background=background),
                bo.Attribute("y", categories=4, background=[0.4, 0.3, 0.2, 0.1]),
                bo.Attribute("z", categories=2),
            ],
            "moments": [
                bo.CrossMoment("x", "y", weight=2.0),
                bo.CrossMoment("y", "z"),
                bo.CrossMoment("x", "z"),
            ],
            "total_epsilon": 5.0,
            **fields,
        }
    )


@given(backgrounds, st.floats(0.05, 8))
def test_the_price_of_a_background_is_log_1_plus_lambda_over_the_rest_times_min_q(
    q: list[float], epsilon: float
) -> None:
    """e = log(1 + lambda / ((1 - lambda) min q)) to the loss of the sampler's rounding, by mpmath."""
    problem = bo.Problem(
        attributes=[bo.Attribute("x", categories=len(q), background=q)],
        moments=[bo.CrossMoment("x")],
        total_epsilon=10.0,
    )
    x = bo.allocation_from(problem, {"x": epsilon})["x"]
    kept, rarest = x.exact_retention, min(map(exact, q)) / sum(map(exact, q))
    price = mpmath.log(1 + mpmath.mpf(float(kept)) / mpmath.mpf(float((1 - kept) * rarest)))
    assert float(price) == pytest.approx(epsilon, rel=5e-6)
    assert x.loss <= epsilon


@given(backgrounds, backgrounds, st.integers(0, 2**32))
@settings(max_examples=40)
def test_theorem_1_and_the_released_marginal_hold_exactly_for_any_background(
    first: list[float], second: list[float], seed: int
) -> None:
    """In fractions, by every record and report: R times the moment; lambda (p - q) for one attribute."""
    problem = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=len(first), background=first),
            bo.Attribute("b", categories=len(second), background=second),
        ],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=4.0,
    )
    made = bo.uniform(problem)
    samplers = [one.sampler for one in made.attributes]
    assert all(isinstance(sampler, BackgroundSampler) for sampler in samplers)
    shape = len(first), len(second)
    counts = np.random.default_rng(seed).integers(0, 9, shape) + 1
    truth = {cell: Fraction(int(counts[cell]), int(counts.sum())) for cell in np.ndindex(shape)}
    released = dict.fromkeys(truth, Fraction(0))
    for x, share in truth.items():
        for y in truth:
            chance = math.prod(s.probability(i, j) for s, i, j in zip(samplers, x, y, strict=True) if s)
            released[y] += share * chance
    assert moment_of(released) == made.moments[0].exact_retention * moment_of(truth)
    for axis, sampler in enumerate(samplers):
        assert isinstance(sampler, BackgroundSampler)
        for v in range(shape[axis]):
            p, observed = (sum(s for cell, s in law.items() if cell[axis] == v) for law in (truth, released))
            q = Fraction(sampler.counts[v], sampler.replaced)
            assert observed - q == sampler.retention * (p - q)


def moment_of(law: dict[tuple[int, ...], Fraction]) -> Fraction:
    """cov(f(x), g(y)) of the category numbers squared and plain."""
    mean = [sum(s * score(cell, m) for cell, s in law.items()) for m in (0, 1)]
    return sum(
        (s * (score(cell, 0) - mean[0]) * (score(cell, 1) - mean[1]) for cell, s in law.items()), Fraction(0)
    )


def score(cell: tuple[int, ...], m: int) -> int:
    return cell[m] ** 2 if m == 0 else cell[m]


def test_with_the_marginal_as_background_the_released_marginal_is_the_marginal() -> None:
    """To the rounding of the counts, 2^-32 a category; with the uniform one it is not."""
    q = np.array(MARGINAL)
    for background, apart in (("marginal", 0.0), ("uniform", (1 - float(retention(2.0, 3))) * (0.6 - 1 / 3))):
        x = bo.allocation_from(asked(background), {"x": 2.0, "y": 1.0, "z": 1.0})["x"]
        released = q * x.truth_probabilities + (1 - q) * x.other_probabilities
        assert np.abs(released - q).max() == pytest.approx(apart, abs=1e-9)


@pytest.mark.parametrize("objective", ["weighted_sum", "geometric_mean", "min_variance"])
def test_the_optimizer_sees_the_effective_cardinality(objective: str) -> None:
    """No split on a grid of 0.05 nats is better than the answer, and the best is nearly as good."""
    problem = asked(objective=objective)
    effective = np.array([10.0, 10.0, 2.0])
    assert problem.arrays.cardinality == pytest.approx(effective)
    made = bo.solve(problem)
    steps = np.arange(0.05, 5.0, 0.05)
    grid = np.array([(x, y, 5.0 - x - y) for x, y in itertools.product(steps, steps) if x + y < 4.999])
    kept = np.log(retention(grid, effective))
    pairs = kept[:, [0, 1, 0]] + kept[:, [1, 2, 2]]
    weight = np.array([2.0, 1.0, 1.0])
    spread = np.log(variance_factors(problem, np.exp(kept)))
    values = {
        "weighted_sum": np.exp(pairs) @ weight,
        "geometric_mean": np.exp(pairs @ weight / weight.sum()),
        "min_variance": -np.exp(spread[:, [0, 1, 0]] + spread[:, [1, 2, 2]]) @ weight,
    }[objective]
    value = made.objective.value
    assert value is not None
    reached = -value if objective == "min_variance" else value
    slack = 1e-5 * abs(reached)
    assert values.max() <= reached + slack
    assert values.max() >= reached - 0.01 * abs(reached)
    assert made.objective.status == "optimal"


def variance_factors(problem: bo.Problem, kept: np.ndarray) -> np.ndarray:
    """1 + tau a + tau (1 + tau) b of 2.3, with a and b from their definitions."""
    factors = np.empty_like(kept)
    for m, one in enumerate(problem.attributes):
        r = one.cardinality
        p = np.full(r, 1 / r) if one.marginal is None else np.array(one.marginal)
        weights = one.background_weights
        q = np.full(r, 1 / r) if weights is None else np.array(weights) / sum(weights)
        f = np.arange(r) - q @ np.arange(r)
        variance = p @ f**2 - (p @ f) ** 2
        tau = 1 / kept[:, m] - 1
        factors[:, m] = 1 + tau * (p @ f**2) / variance + tau * (1 + tau) * (q @ f**2) / variance
    return factors


def test_a_floor_is_priced_with_the_effective_cardinality() -> None:
    """The least epsilon at which x x z keeps 30 %: brute force over lambda_x, by the prices of 2.1."""
    problem = asked(
        objective="min_epsilon", total_epsilon=None, moments=[bo.CrossMoment("x", "z", floor=0.3)]
    )
    made = bo.solve(problem)
    x = np.linspace(0.3001, 0.9999, 200_000)
    z = 0.3 / x
    cost = np.log1p(10 * x / (1 - x)) + np.log1p(2 * z / (1 - z))
    assert made.spent_epsilon == pytest.approx(cost.min(), abs=1e-6)
    assert made["y"].epsilon == 0.0


SHARES = np.array([[0.20, 0.05], [0.10, 0.30], [0.05, 0.30]])


def estimates_of(seed: int, n: int, clusters: list[list[str]]) -> list[tuple[bo.Estimate, float]]:
    rng = np.random.default_rng(seed)
    cells = rng.choice(6, n, p=SHARES.ravel())
    table = pd.DataFrame({"x": cells // 2, "y": cells % 2})
    problem = bo.Problem(
        attributes=[
            bo.Attribute("x", categories=3, marginal=[0.25, 0.4, 0.35], background="marginal"),
            bo.Attribute("y", categories=2, background=[0.8, 0.2]),
        ],
        moments=[bo.CrossMoment("x", "y")],
        total_epsilon=5.0,
        clusters=clusters,
    )
    allocation = bo.uniform(problem)
    released = bo.randomize(table, allocation)
    x, y = table["x"] - table["x"].mean(), table["y"] - table["y"].mean()
    pair = bo.estimate.moment(released, allocation, "x", "y", target="data")
    mean = bo.estimate.moment(released, allocation, "x", target="data")
    return [(pair, float((x * y).mean())), (mean, float(table["x"].mean()))]


@pytest.mark.parametrize("clusters", [[], [["x", "y"]]])
def test_corrected_estimates_cover_what_they_estimate(clusters: list[list[str]]) -> None:
    """40 estimates of 20 releases: more than three beyond 4 standard errors have probability 2e-12.

    Detectable: a standard error that is off by a factor of 2.
    """
    missed = 0
    squares = []
    for seed in range(20):
        for estimate, truth in estimates_of(seed, 4000, clusters):
            distance = (estimate.value - truth) / estimate.standard_error
            missed += abs(distance) > 4
            squares.append(distance**2)
    assert missed <= 3
    # the mean of 40 squares of standard normal numbers is within these with probability above 1 - 1e-9
    assert 0.15 < np.mean(squares) < 3.2


def test_the_comparison_of_a_uniform_and_a_public_background_tells_price_and_marginal() -> None:
    splits = {name: bo.solve(asked(name)) for name in ("uniform", "marginal")}
    found = bo.compare(splits, even=False)
    (row,) = found.backgrounds
    assert row.attribute == "x"
    assert row.told == ("uniform", "marginal")
    assert row.effective == (3.0, 10.0)
    kept = [splits[name]["x"].retention for name in splits]
    assert list(row.retentions) == kept
    assert row.moved[0] == pytest.approx((1 - kept[0]) * (0.6 - 1 / 3))
    assert row.moved[1] == 0.0
    assert row.changed[0] == pytest.approx((1 - kept[0]) * (1 - 1 / 3))
    assert row.changed[1] == pytest.approx((1 - kept[1]) * (1 - sum(p * p for p in MARGINAL)))
    values = [split.value for split in found.splits]
    assert values == [splits[name].objective.value for name in splits]
    told = " ".join(str(found).split())
    assert "replaced cells from other backgrounds (x: uniform in uniform, marginal in marginal)" in told
    assert "effective categories" in told
    assert json.loads(json.dumps(found.to_dict()))["backgrounds"][0]["effective"] == [3.0, 10.0]
    same = bo.compare({"a": splits["uniform"], "b": bo.uniform(asked("uniform"))})
    assert same.backgrounds == ()
    assert "backgrounds" not in same.to_dict()
    assert "background" not in str(same)


def test_a_split_of_another_background_is_compared_and_not_judged_as_the_same() -> None:
    made = bo.uniform(asked("marginal"))
    with pytest.raises(InputError, match="from another background than the problem"):
        bo.judge(asked("uniform"), made)
    found = bo.compare({"mixed": bo.uniform(asked({"mixture": 0.5}))}, asked("uniform"))
    assert found["mixed"].allocation.question.attribute("x").background_weights is not None
