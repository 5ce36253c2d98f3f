"""The laws behind the search on a grid: bounds of boxes, what narrowing leaves out, and splits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import OBJECTIVES, IntArray, Objective
from budget_opt.model.objectives import value
from budget_opt.solvers.grid.dual import Dual, Prices
from budget_opt.solvers.grid.lattice import Lattice, NoMultipleError
from budget_opt.solvers.grid.narrowing import narrowed
from budget_opt.solvers.grid.search import Boxes, Incumbent, Search
from budget_opt.solvers.grid.worth import Worth
from tests.solvers.random_problems import random_problem

BOXES = 6


def cases(objective: Objective, count: int = 12) -> Iterator[tuple[Worth, np.random.Generator]]:
    """Grids of random problems with floors, ceilings, groups and pins."""
    seed = 0
    while count:
        arrays = random_problem(seed, objective, ceilings=seed % 2 == 0)
        seed += 1
        total = max((float(budget.cap) for budget in arrays.budgets), default=0.0)
        if not (1 < arrays.blocks < 7 and 1e-2 < total < 100):
            continue
        try:
            lattice = Lattice.of(arrays, exact(float(f"{total / (20 / arrays.blocks + 3):.2g}")))
        except NoMultipleError:
            continue
        if lattice.possible and lattice.free.size > 1:
            count -= 1
            yield Worth(lattice, arrays), np.random.default_rng(seed)


def boxes_of(worth: Worth, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Random boxes, the whole grid among them."""
    size = (worth.lattice.width.size, BOXES)
    ends = np.sort(rng.integers(0, worth.lattice.width[:, None] + 1, (2, *size)), axis=0)
    ends[0, :, 0], ends[1, :, 0] = 0, worth.lattice.width
    return ends[0], ends[1]


def points_of(worth: Worth, lower: IntArray, upper: IntArray) -> IntArray:
    """All points of a box that keep everything, at most 20,000 of them."""
    ranges = [range(low, high + 1) for low, high in zip(lower, upper, strict=True)]
    points = np.array(list(zip(*product(*ranges), strict=True)), dtype=np.int64)
    points = points[:, :20_000]
    points = points[:, worth.lattice.within(points)]
    kept: IntArray = points[:, worth.missing(points) == 0]
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES[1:])
def test_no_point_of_a_box_is_worth_more_than_its_bound_at_any_prices(objective: Objective) -> None:
    judged = 0
    for worth, rng in cases(objective):
        dual, arrays = Dual(worth), worth.arrays
        lower, upper = boxes_of(worth, rng)
        size = rng.choice([0.1, 1.0, 10.0])
        shares = rng.exponential(size=(worth.terms.size if dual.has_shares else 0, BOXES))
        prices = Prices(
            size * rng.exponential(size=(arrays.floors.size, BOXES)),
            0.1 * size * rng.exponential(size=(arrays.ceilings.size, BOXES)),
            size * rng.exponential(size=(len(worth.lattice.cap), BOXES)),
            shares / np.sum(shares, axis=0),
        )
        found = dual.bound(prices, lower, upper)
        moved = dual.stepped(prices, found, float(np.min(found.bound)) - 0.1)
        for bounded in (found, dual.bound(moved, lower, upper)):
            for b in range(BOXES):
                points = points_of(worth, lower[:, b], upper[:, b])
                judged += points.shape[1]
                reached = worth.of(points)
                assert np.all(reached <= bounded.bound[b])
                # what an index loses is proved for every point that has it
                lost = np.take_along_axis(bounded.lost[:, :, b], points, axis=1)
                without = bounded.bound[b] - lost.max(axis=0, initial=0.0)
                assert np.all((reached <= without) | (reached < -1e20))
    assert judged > 200


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_narrowing_leaves_out_no_point_that_keeps_everything_and_is_better(objective: Objective) -> None:
    judged = 0
    for worth, rng in cases(objective):
        lower, upper = boxes_of(worth, rng)
        inside = [points_of(worth, lower[:, b], upper[:, b]) for b in range(BOXES)]
        values = np.concatenate([worth.of(points) for points in inside])
        wanted = float(np.median(values)) if values.size else -np.inf
        low, high, possible = narrowed(worth, lower, upper, wanted)
        for b, points in enumerate(inside):
            better = points[:, worth.of(points) > wanted]
            judged += better.shape[1]
            assert possible[b] or not better.size
            assert np.all((better >= low[:, [b]]) & (better <= high[:, [b]]))
    assert judged > 100


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_worth_is_the_objective_in_its_own_unit(objective: Objective) -> None:
    for worth, rng in cases(objective):
        lower, upper = boxes_of(worth, rng)
        points = points_of(worth, lower[:, 0], upper[:, 0])[:, :50]
        for j in range(points.shape[1]):
            reached = value(worth.arrays, worth.lattice.expand(points[:, j]))
            said = float(worth.of(points[:, [j]])[0])
            if objective == "min_epsilon":
                unit = -reached
            else:
                unit = math.log(reached) if 0 < reached < np.inf else -np.inf
                unit = -unit if objective == "min_variance" and reached < np.inf else unit
            assert said == pytest.approx(unit, rel=1e-9, abs=1e-12) or max(said, unit) < -1e20


def test_both_parts_of_a_box_hold_all_its_points_once() -> None:
    for worth, rng in cases("geometric_mean", 6):
        lower, upper = boxes_of(worth, rng)
        for b in range(BOXES):
            if np.all(lower[:, b] == upper[:, b]):
                continue
            search = Search(worth, Incumbent(), 1e-9, lambda: None)
            nothing = np.zeros((0, 1))
            box = Boxes(lower[:, [b]], upper[:, [b]], Prices(nothing, nothing, nothing, nothing), np.ones(1))
            search._split(box, rng.uniform(lower[:, b] - 1, upper[:, b] + 1))
            parts = [part for _, _, part in search._heap]
            counts = [np.prod(part.upper - part.lower + 1) for part in parts]
            assert all(np.all(part.lower <= part.upper) for part in parts)
            assert sum(counts) == np.prod(upper[:, b] - lower[:, b] + 1)
            overlap = np.minimum(parts[0].upper, parts[1].upper) - np.maximum(parts[0].lower, parts[1].lower)
            assert np.any(overlap < 0)


def test_a_multiple_is_the_double_of_its_decimal() -> None:
    for worth, _ in cases("max_min", 6):
        lattice = worth.lattice
        for i in range(lattice.width.size):
            for j in range(int(lattice.width[i]) + 1):
                count = int(lattice.first[i]) + j
                assert exact(lattice.epsilon[i, j]) == lattice.step * count
    assert exact(Lattice.of(worth.arrays, Fraction(1, 20)).epsilon[0, 0]) % Fraction(1, 20) == 0
