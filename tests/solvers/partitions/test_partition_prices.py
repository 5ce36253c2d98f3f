"""Laws of the bounds that the prices of one partition give to all others."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from budget_opt.certificate.partitions.choice import Blocks, Choice, admissible
from budget_opt.certificate.partitions.covering import attribute_bound
from budget_opt.certificate.partitions.listing import Listing, listed
from budget_opt.certificate.partitions.prices import LinearPrices
from budget_opt.certificate.partitions.trivial import trivial_bound
from budget_opt.model.arrays import OBJECTIVES, Objective
from budget_opt.solvers.answer import Clock, Settings
from budget_opt.solvers.partitions.covering import cover_bound
from budget_opt.solvers.partitions.trying import Tried, tried
from tests.solvers.partitions.designs import random_design

CONVEX = tuple(one for one in OBJECTIVES if one != "weighted_sum")


@cache
def all_tried(objective: Objective, seed: int) -> tuple[Choice, Listing, list[Tried]]:
    """Every partition of a random problem with its best split."""
    problem = random_design(seed, 3 if objective == "weighted_sum" else 4, objective)
    choice = Choice.of(problem, problem.max_cells or 64)
    blocks = admissible(choice, 10_000)
    assert blocks is not None
    listing = listed(blocks, choice.size, 10_000)
    assert listing is not None
    every = [
        tried(choice, listing.partition(n), Settings(gap=1e-7), Clock(None)) for n in range(listing.size)
    ]
    return choice, listing, every


@pytest.mark.parametrize(
    ("objective", "seed"), [*((one, 0) for one in OBJECTIVES), *((one, 5) for one in CONVEX)]
)
def test_the_prices_of_every_partition_bound_the_best_split_of_every_other(
    objective: Objective, seed: int
) -> None:
    choice, listing, every = all_tried(objective, seed)
    scores = np.array([one.score for one in every])
    catalogue = Blocks.of(choice, listing.blocks)
    assert np.all(scores <= trivial_bound(choice))
    for prices in (prices for one in every for prices in one.prices):
        worth = prices.worth(catalogue)
        bounds = prices.score(listing.sums(worth))
        assert np.all(scores <= bounds)
        # a cover by prices of attributes bounds all partitions at once
        assert np.max(bounds) <= prices.score(np.array([cover_bound(catalogue, worth)]))[0] + 1e-12
        if isinstance(prices, LinearPrices):
            assert np.max(bounds) <= prices.score(np.array([attribute_bound(choice, prices)]))[0] + 1e-9


@pytest.mark.parametrize("objective", CONVEX)
def test_the_prices_of_a_convex_objective_close_the_gap_of_their_own_partition(objective: Objective) -> None:
    choice, listing, every = all_tried(objective, 5)
    catalogue = Blocks.of(choice, listing.blocks)
    tight = [
        float(prices.score(listing.sums(prices.worth(catalogue)))[n]) - one.score
        for n, one in enumerate(every)
        for prices in one.prices
    ]
    assert tight
    assert max(tight) < 1e-5


@pytest.mark.parametrize(
    "objective",
    [pytest.param(one, marks=pytest.mark.slow if one == "weighted_sum" else ()) for one in OBJECTIVES],
)
def test_a_partition_is_told_to_be_no_better_only_where_it_is_not(objective: Objective) -> None:
    choice, _, every = all_tried(objective, 5)
    best = max(every, key=lambda one: one.score)
    for one in every:
        found = tried(choice, one.partition, Settings(gap=1e-7), Clock(None), best.score - 1e-3)
        assert found.bound >= one.score - 1e-9 * abs(one.score)
        if one.score < best.score - 2e-3 and math.isfinite(one.score):
            assert found.bound < best.score
