"""Branch and bound for `weighted_sum`: the optimum is never lost, the bound is a proof (GLOBAL_SOLVER 6)."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from budget_opt.certificate import Certificate
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.symmetry import classes
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import value
from budget_opt.model.problem import Problem
from budget_opt.solvers import local_method
from budget_opt.solvers.answer import Clock, Report, Settings, Task
from budget_opt.solvers.global_search import method
from budget_opt.solvers.global_search.search import Search
from budget_opt.solvers.table import solve
from tests.solvers.random_problems import broken, build, no_split_is_beyond, random_problem

FAST = ["dense8_0.7", "dense10_2.0", "sym8"]


def instance(folder: Path, name: str) -> tuple[Arrays, float]:
    """A shared problem and its known optimum."""
    document = json.loads((folder / "global" / f"{name}.json").read_text("utf-8"))
    return Problem.from_dict(document["problem"]).arrays, float(document["expect"]["value"])


def _small(seed: int, m: int = 5, largest: int = 3, total: float | None = None) -> Arrays:
    """A weighted sum under its total alone."""
    rng = np.random.default_rng(seed)
    moments = {
        tuple(sorted(rng.choice(m, int(rng.integers(1, largest + 1)), replace=False).tolist()))
        for _ in range(12)
    }
    return build(
        "weighted_sum",
        rng.integers(2, 20, m),
        sorted(moments),
        float(rng.uniform(1, 12)) if total is None else total,
        weight=rng.lognormal(0, 1, len(moments)),
    )


def _searched(arrays: Arrays, limit: float | None = 20.0) -> tuple[FloatArray, Certificate]:
    return method.solve(Task(arrays, Settings(time_limit=limit), Clock(limit)))


@cache
def _found(seed: int) -> tuple[FloatArray, Certificate]:
    """The answer for a small problem."""
    return _searched(_small(seed))


@pytest.mark.parametrize("name", FAST)
def test_the_known_optimum_is_proved(shared_instances: Path, name: str) -> None:
    proves_the_known_optimum(shared_instances, name)


def proves_the_known_optimum(folder: Path, name: str) -> None:
    """The law: proved to 1e-6, inside every constraint; the limit is for a machine that is very busy."""
    arrays, known = instance(folder, name)
    found = solve(arrays, Settings(time_limit=600))
    assert found.status == "optimal"
    assert found.certificate.value == pytest.approx(known, rel=1e-6)
    assert found.certificate.bound >= known
    assert broken(arrays, found.epsilon) == []


class Planted:
    """Pretends that only a share of the optimum is known, so that nothing but its own boxes are left."""

    def __init__(self, arrays: Arrays, split: FloatArray, share: float) -> None:
        self.value, self.split = share * value(arrays, split), split

    def improve(self, points: FloatArray, *, thoroughly: bool) -> bool:
        return False


def never_lost(arrays: Arrays, share: float, most: int) -> None:
    """The law: with a share of the optimum planted, no bound of so many nodes falls below the optimum."""
    best = local_method.found(Task(arrays, Settings(), Clock(None)))[1]
    assert best.epsilon is not None
    search = Search(Question.of(arrays), 1e-9, Planted(arrays, best.epsilon, share), lambda: None)
    bounds: list[float] = []

    def told(bound: float, nodes: int) -> None:
        bounds.append(bound)
        if nodes > most:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        search.run(told)
    assert min(bounds) >= best.value
    assert search.bound >= best.value


@pytest.mark.parametrize(
    ("seed", "share"),
    [(0, 0.9), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((1, 0.999), (0, 0.99999)))],
)
def test_a_planted_optimum_is_never_lost(seed: int, share: float) -> None:
    arrays = _small(seed)
    never_lost(arrays, share, 400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_problems_of_every_kind_keep_all_constraints_and_no_point_passes_the_bound(seed: int) -> None:
    arrays = random_problem(seed, "weighted_sum", ceilings=seed % 3 == 2)
    found = solve(arrays, Settings(time_limit=0.8))
    assert broken(arrays, found.epsilon) == []
    assert found.certificate.bound >= found.certificate.value
    no_split_is_beyond(arrays, found.certificate.bound, seed, 200)


@pytest.mark.parametrize("seed", range(3))
def test_two_attributes_agree_with_a_fine_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    total = float(rng.uniform(1, 10))
    arrays = build(
        "weighted_sum", rng.integers(2, 60, 2), [[0], [1], [0, 1]], total, weight=rng.lognormal(0, 1, 3)
    )
    split, certificate = _searched(arrays)
    shares = np.linspace(0, 1, 2001)
    on_grid = max(value(arrays, np.array([share, 1 - share]) * total) for share in shares)
    assert certificate.relative_gap <= 1e-6
    assert certificate.bound >= on_grid
    assert certificate.value >= on_grid * (1 - 1e-6)
    assert value(arrays, split) == certificate.value


def test_the_search_is_deterministic() -> None:
    first, second = _found(8), _searched(_small(8))
    assert np.array_equal(first[0], second[0])
    assert first[1].bound == second[1].bound


def test_permuted_attributes_permute_the_answer() -> None:
    arrays = _small(8)
    order = np.random.default_rng(0).permutation(arrays.blocks)
    permuted = replace(arrays, cardinality=arrays.cardinality[order], incidence=arrays.incidence[:, order])
    split, certificate = _found(8)
    other, again = _searched(permuted)
    assert again.value == pytest.approx(certificate.value, rel=1e-6)
    assert np.allclose(other, split[order], atol=1e-3 * float(np.sum(split)))


def test_scaled_weights_scale_value_and_bound() -> None:
    arrays = _small(8)
    _, plain = _found(8)
    _, scaled = _searched(replace(arrays, weight=1e6 * arrays.weight))
    assert scaled.value == pytest.approx(1e6 * plain.value, rel=1e-6)
    assert scaled.bound == pytest.approx(1e6 * plain.bound, rel=2e-6)


@pytest.mark.slow
def test_an_interrupted_search_returns_a_valid_answer_and_bound() -> None:
    arrays = _small(11, m=8, largest=4, total=8.0)
    _, whole = _searched(arrays)
    for stop in (1, 20, 45):
        heard: list[Report] = []

        def interrupt(report: Report, heard: list[Report] = heard, stop: int = stop) -> None:
            if report.nodes is not None:
                heard.append(report)
                if len(heard) == stop:
                    raise KeyboardInterrupt

        split, certificate = method.solve(Task(arrays, Settings(), Clock(None), interrupt))
        assert broken(arrays, split) == []
        assert np.isfinite(certificate.bound)
        assert certificate.bound >= whole.value


def test_progress_tells_falling_bounds_and_nodes() -> None:
    heard: list[Report] = []
    arrays = _small(12, m=7)
    method.solve(Task(arrays, Settings(), Clock(None), heard.append))
    bounds = [report.bound for report in heard if report.bound is not None]
    assert bounds
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(bounds))
    assert [report.nodes for report in heard if report.nodes is not None][-1] >= 1


def test_interchangeable_attributes_are_recognised_and_no_others() -> None:
    pairs = [[0, 1], [0, 2], [1, 2], [2, 3], [1, 3], [0, 3], [3, 4]]
    arrays = build("weighted_sum", [4, 4, 4, 4, 4], pairs, 3.0)
    assert [list(found) for found in classes(arrays)] == [[0, 1, 2]]
    heavier = build("weighted_sum", [4, 4, 4, 4, 4], pairs, 3.0, weight=[2, 1, 1, 1, 1, 1, 1])
    assert [list(found) for found in classes(heavier)] == [[0, 1]]


def test_a_larger_total_or_a_dropped_floor_never_hurts() -> None:
    seed = 2
    rng = np.random.default_rng(seed)
    pairs = [[i, j] for i in range(5) for j in range(i + 1, 5)]
    weight, cardinality = rng.lognormal(0, 1, 10), rng.integers(2, 16, 5)
    floor = np.where(np.arange(10) == seed, 0.1, 0.0)

    def proved(total: float, floors: FloatArray) -> Certificate:
        return _searched(build("weighted_sum", cardinality, pairs, total, weight=weight, floor=floors))[1]

    less, more, free = proved(8.0, floor), proved(9.0, floor), proved(8.0, np.zeros(10))
    assert more.bound >= less.value
    assert free.bound >= less.value
    assert max(one.relative_gap for one in (less, more, free)) <= 1e-6


@pytest.mark.parametrize("total", [1e-2, 1e-4])
def test_small_totals_approach_the_limit_in_which_lambda_is_epsilon_over_r(total: float) -> None:
    """There the sum is w e_i e_j / (r_i r_j): a grid on the simplex knows its maximum."""
    cardinality, weight = np.array([3, 5, 8]), np.array([1.0, 2.0, 1.5])
    problem = build("weighted_sum", cardinality, [[0, 1], [0, 2], [1, 2]], total, weight=weight)
    proved = _searched(problem)[1]
    # with x_i = e_i / total the limit is a quadratic form on the simplex
    form = np.zeros((3, 3))
    for w, (i, j) in zip(weight, [(0, 1), (0, 2), (1, 2)], strict=True):
        form[i, j] = w / (cardinality[i] * cardinality[j])
    grid = np.linspace(0, 1, 401)
    x, y = (axis.ravel() for axis in np.meshgrid(grid, grid))
    shares = np.stack([x, y, 1 - x - y])[:, x + y <= 1]
    limit = float(np.max(np.einsum("is,ij,js->s", shares, form, shares)))
    assert proved.value / total**2 == pytest.approx(limit, rel=total + 1e-4)
    assert proved.relative_gap <= 1e-6
