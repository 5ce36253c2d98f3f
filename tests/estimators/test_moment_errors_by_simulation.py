"""R30: values, standard errors and intervals against 10,000 repetitions, each target against its own truth.

Every comparison is at 6 standard deviations of the simulation (false alarm 2e-9 by the normal
approximation of a mean of 10,000), and the seeds are fixed. Detectable faults: a standard error that is
off by 5 to 10 %, a value off by 0.06 standard errors, a coverage off by 1.5 percentage points.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.moment import moment_from_counts
from tests.estimators.release_model import (
    FloatArray,
    IntArray,
    corrected_moments,
    design,
    moment_of,
    release,
    released_shares,
    skewed,
    sparse,
)

REPETITIONS = 10_000
SIGMAS = 6.0

ATTRIBUTES = {
    "middle": [("b", 0.55, [0, 1, 3]), ("c", 0.6, [-2, 0, 5]), ("d", 0.7, [0, 1]), ("a", 0.8, [0, 1])],
    "small": [("b", 0.2, [0, 1, 3]), ("c", 0.1, [-2, 0, 5]), ("d", 0.15, [0, 1]), ("a", 0.15, [0, 1])],
    "large": [("b", 0.97, [0, 1, 3]), ("c", 0.95, [-2, 0, 5]), ("d", 0.98, [0, 1]), ("a", 1.0, [0, 1])],
}
"""Name, retention and scores; the last of the large ones is a public column."""


def simulate(
    shares: FloatArray, designs: list[Design], n: int, target: Target, rng: np.random.Generator
) -> tuple[float, IntArray]:
    """The truth of the target and the released tables of all repetitions."""
    if target == "population":
        moved = released_shares(shares, designs).ravel()
        return moment_of(shares, designs), rng.multinomial(n, moved, REPETITIONS).reshape(-1, *shares.shape)
    table = rng.multinomial(n, shares.ravel()).reshape(shares.shape)
    return moment_of(table, designs), release(rng, table, designs, REPETITIONS)


def judge(truth: float, tables: IntArray, designs: list[Design], target: Target) -> float:
    """The coverage, after all else has been judged."""
    estimates = [moment_from_counts(table, designs, target=target) for table in tables]
    values = np.array([estimate.value for estimate in estimates])
    variances = np.array([estimate.standard_error**2 for estimate in estimates])
    low, high = np.array([estimate.interval(0.95) for estimate in estimates]).T
    n, order = estimates[0].n, len(designs)
    measured = values.var(ddof=1)

    # the population's own sample-centred moment has a bias of order mu / n
    allowed = abs(truth) * order**2 / n if target == "population" and order > 1 else 0.0
    assert abs(values.mean() - truth) <= SIGMAS * math.sqrt(measured / REPETITIONS) + allowed

    ratio = variances.mean() / measured
    kurtosis = np.mean((values - values.mean()) ** 4) / measured**2
    noise = math.sqrt((kurtosis - 1 + variances.var() / measured**2) / REPETITIONS)
    assert abs(ratio - 1) <= SIGMAS * noise + order / n  # terms of order 1 / n are not in the formula

    covered = float(np.mean((low <= truth) & (truth <= high)))
    assert abs(covered - 0.95) <= SIGMAS * math.sqrt(0.95 * 0.05 / REPETITIONS)
    return covered


@pytest.mark.slow
@pytest.mark.parametrize(
    # each order meets both kinds of table, and orders of one parity all retentions and both targets
    ("order", "make", "retentions", "target"),
    [
        (1, skewed, "middle", "data"),
        (1, sparse, "middle", "population"),
        (2, sparse, "small", "population"),
        (2, skewed, "large", "data"),
        (3, sparse, "small", "data"),
        (3, skewed, "large", "population"),
        (4, sparse, "middle", "data"),
        (4, skewed, "large", "data"),
    ],
)
def test_values_errors_and_intervals_hold_over_10000_repetitions(
    order: int,
    retentions: str,
    make: Callable[[np.random.Generator, tuple[int, ...]], FloatArray],
    target: Target,
) -> None:
    rng = np.random.default_rng([order, list(ATTRIBUTES).index(retentions), len(make.__name__)])
    designs = [design(*parts) for parts in ATTRIBUTES[retentions][:order]]
    shares = make(rng, tuple(one.cardinality for one in designs))
    truth, tables = simulate(shares, designs, 3_000, target, rng)
    judge(truth, tables, designs, target)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "data"])
def test_a_background_other_than_uniform_is_taken_into_account(target: Target) -> None:
    """Of members of different clusters, which are randomized as if they were alone."""
    designs = [
        design("a", 0.5, [0, 1, 3], [0.6, 0.3, 0.1], "a + c"),
        design("b", 0.7, [1, 0], [0.2, 0.8], "b + d"),
    ]
    rng = np.random.default_rng(5)
    truth, tables = simulate(skewed(rng, (3, 2)), designs, 3_000, target, rng)
    judge(truth, tables, designs, target)


def closed_form(shares: FloatArray, designs: list[Design]) -> tuple[float, float]:
    """n Var of a corrected pair by DESIGN 2.3, for the population and given the data."""
    grid, own = np.ones(shares.shape), np.ones(shares.shape)
    for axis, one in enumerate(designs):
        # scores centred at the background's mean; mu is then the mean of these
        f = one.scores - one.background @ one.scores
        s = one.background @ f**2
        tau = 1 / one.retention - 1
        marginal = shares.sum(axis=1 - axis)
        mu = marginal @ f
        factor = (f - mu) ** 2 + tau * f**2 + tau * (1 + tau) * s
        shape = [-1 if other == axis else 1 for other in range(2)]
        grid = grid * factor.reshape(shape)
        own = own * ((f - mu) ** 2).reshape(shape)
    return float(np.sum(shares * grid)) - moment_of(shares, designs) ** 2, float(
        np.sum(shares * (grid - own))
    )


@pytest.mark.parametrize("make", [skewed, sparse])
@pytest.mark.parametrize("retentions", list(ATTRIBUTES))
def test_the_error_of_a_pair_is_the_closed_form_of_design_2_3(
    make: Callable[[np.random.Generator, tuple[int, ...]], FloatArray], retentions: str
) -> None:
    """On the expected table of a release of 10^12 rows, to rounding of the counts: no simulation."""
    designs = [design(*parts) for parts in ATTRIBUTES[retentions][:2]]
    shares = make(np.random.default_rng(11), (3, 3))
    n = 10**12
    expected = np.rint(n * released_shares(shares, designs)).astype(np.int64)
    population, data = closed_form(shares, designs)
    stated: dict[Target, float] = {"population": population, "data": data}
    for target, variance in stated.items():
        estimate = moment_from_counts(expected, designs, target=target)
        assert estimate.n * estimate.standard_error**2 == pytest.approx(variance, rel=1e-7)


def test_the_closed_form_of_design_2_3_is_the_variance_of_10000_releases() -> None:
    """At 6 standard deviations of the simulated variance (8.5 %), both targets; values by definition."""
    designs = [design(*parts) for parts in ATTRIBUTES["middle"][:2]]
    rng = np.random.default_rng(13)
    shares, n = skewed(rng, (3, 3)), 5_000
    population = rng.multinomial(n, released_shares(shares, designs).ravel(), REPETITIONS)
    table = rng.multinomial(n, shares.ravel()).reshape(3, 3)
    given_data = release(rng, table, designs, REPETITIONS)
    stated = closed_form(shares, designs)[0], closed_form(table / n, designs)[1]
    for tables, variance in zip((population.reshape(-1, 3, 3), given_data), stated, strict=True):
        values = corrected_moments(tables, designs)
        assert n * np.var(values) == pytest.approx(variance, rel=SIGMAS * math.sqrt(2 / REPETITIONS))
