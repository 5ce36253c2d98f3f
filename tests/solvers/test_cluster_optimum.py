"""The best split with clusters against listed grids, cvxpy and SCIP, all of the problem's own document."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.api.gridding import rounded
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, Objective
from budget_opt.model.objectives import log_inflations, log_retentions, value
from tests.solvers.cluster_problems import CLUSTERS, Reading, survey

STEP, MOST = 0.25, 14
CONVEX: tuple[Objective, ...] = OBJECTIVES[1:]
kinds = pytest.mark.parametrize("objective", OBJECTIVES)
clusterings = pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)


@clusterings
@pytest.mark.parametrize("marginals", [False, True])
def test_arrays_say_what_an_enumeration_of_the_matrices_says(
    clusters: tuple[tuple[str, ...], ...], marginals: bool
) -> None:
    problem = survey("min_variance", clusters, marginals=marginals)
    reading, rng = Reading.of(problem), np.random.default_rng(1)
    assert [list(block.names) for block in problem.blocks] == reading.blocks
    for _ in range(4):
        epsilons = rng.uniform(0.2, 3.0, len(reading.blocks))
        for k, moment in enumerate(reading.document["moments"]):
            kept, lost = reading.retention(moment, epsilons), reading.inflation(moment, epsilons)
            assert math.exp(log_retentions(problem.arrays, epsilons)[k]) == pytest.approx(kept, rel=1e-12)
            assert math.exp(log_inflations(problem.arrays, epsilons)[k]) == pytest.approx(lost, rel=1e-10)


@clusterings
@kinds
def test_values_are_those_of_the_reading(clusters: tuple[tuple[str, ...], ...], objective: Objective) -> None:
    problem = survey(objective, clusters)
    epsilons = np.linspace(0.5, 1.5, len(problem.blocks))
    assert value(problem.arrays, epsilons) == pytest.approx(Reading.of(problem).value(epsilons), rel=1e-10)


def test_a_cluster_with_marginals_has_a_spread_for_each_set_of_its_members() -> None:
    arrays = survey("min_variance").arrays
    assert arrays.spread_block.size > arrays.blocks
    plain = survey("min_variance", marginals=False).arrays
    assert plain.spread_block.size == plain.blocks


@clusterings
@kinds
def test_no_split_of_a_grid_is_better_than_the_answer_or_its_bound(
    clusters: tuple[tuple[str, ...], ...], objective: Objective
) -> None:
    problem = survey(objective, clusters)
    reading = Reading.of(problem)
    allocation = bo.solve(problem)
    outcome = allocation.objective
    assert outcome.status == "optimal"
    assert reading.keeps_all(allocation.epsilons)
    assert outcome.value is not None
    assert outcome.bound is not None
    assert outcome.value == pytest.approx(reading.value(allocation.epsilons), rel=1e-6)
    best = max if objective not in MINIMIZED else min
    listed = best(reading.value(split) for split in reading.splits(STEP, MOST))
    sign = -1.0 if objective in MINIMIZED else 1.0
    assert sign * listed <= sign * outcome.bound
    assert sign * listed <= sign * outcome.value * (1 + sign * 1e-6)


@kinds
def test_the_best_split_of_a_grid_is_the_best_of_all_on_it(objective: Objective) -> None:
    problem = survey(objective)
    reading = Reading.of(problem)
    best = max if objective not in MINIMIZED else min
    listed = best(reading.value(split) for split in reading.splits(STEP, MOST))
    on_grid = rounded(bo.solve(problem), STEP)
    assert on_grid.is_best
    assert on_grid.allocation.objective.value == pytest.approx(listed, rel=1e-6)
    assert [row["attribute"] for row in on_grid.rows()] == ["smoker + income", "age", "sex"]


@pytest.mark.parametrize("objective", CONVEX)
def test_cvxpy_finds_the_same_optimum(objective: Objective) -> None:
    problem = survey(objective, CLUSTERS["two pairs"])
    ours = bo.solve(problem).objective
    theirs = bo.solve(problem, solver="cvxpy", gap=1e-4).objective
    assert theirs.solver == "cvxpy"
    assert theirs.value == pytest.approx(ours.value, rel=1e-5)
    assert _by_cvxpy(Reading.of(problem)) == pytest.approx(ours.value, rel=1e-4)


def _by_cvxpy(reading: Reading) -> float:
    """The optimum in log lambda, from the reading: spreads are fitted to three points of the enumeration."""
    import cvxpy as cp

    m, moments = len(reading.blocks), reading.document["moments"]
    sizes = np.array([reading.size(i) for i in range(m)])
    x, e, w = cp.Variable(m), cp.Variable(m), cp.Variable(m)
    rules = [cp.exp(x) + cp.multiply(sizes - 1, cp.exp(x - e)) + cp.exp(-e) <= 1]
    # tau = r / (exp(e) - 1), and w is log tau or more
    rules += [cp.multiply(sizes, cp.exp(-e - w)) + cp.exp(-e) <= 1]
    rules += [cp.sum(e) <= reading.document["total_epsilon"]]
    touched = [reading.touched(moment) for moment in moments]
    for moment, own in zip(moments, touched, strict=True):
        if "floor" in moment:
            rules.append(sum(x[i] for i in own) >= math.log(moment["floor"]))
    weights = [moment.get("weight", 1.0) for moment in moments]
    kind = reading.document.get("objective")
    kept = [sum(x[i] for i in own) for own in touched]
    if kind == "min_epsilon":
        return float(cp.Problem(cp.Minimize(cp.sum(e)), rules).solve(solver=cp.CLARABEL))
    if kind == "geometric_mean":
        goal = sum(w * one for w, one in zip(weights, kept, strict=True)) / sum(weights)
        return math.exp(cp.Problem(cp.Maximize(goal), rules).solve(solver=cp.CLARABEL))
    if kind == "max_min":
        ratios = [
            one - math.log(moment.get("target", 1.0)) for one, moment in zip(kept, moments, strict=True)
        ]
        return math.exp(cp.Problem(cp.Maximize(cp.minimum(*ratios)), rules).solve(solver=cp.CLARABEL))
    terms = []
    for weight, moment, own in zip(weights, moments, touched, strict=True):
        total: Any = math.log(weight * moment.get("variance", 1.0))
        for i, names in own.items():
            linear, square = reading.powers_of_tau(i, names)
            total = total + cp.log_sum_exp(
                cp.hstack([0.0, math.log(linear) + w[i], math.log(square) + 2 * w[i]])
            )
        terms.append(total)
    least = cp.Problem(cp.Minimize(cp.log_sum_exp(cp.hstack(terms))), rules).solve(solver=cp.CLARABEL)
    return math.exp(least)


@pytest.mark.slow
@kinds
def test_scip_finds_the_same_optimum(objective: Objective) -> None:
    pytest.importorskip("pyscipopt")
    from tests.solvers.cluster_scip import optimum

    problem = survey(objective)
    ours = bo.solve(problem).objective
    assert ours.value == pytest.approx(optimum(Reading.of(problem)), rel=1e-4)
