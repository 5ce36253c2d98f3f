"""Problems with clusters through all that asks about splits: each cluster is one, and is named as one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.api.checking.checking import check
from budget_opt.api.gridding import rounded
from budget_opt.api.pricing import prices
from budget_opt.api.quick import quick_split
from budget_opt.errors import InfeasibleError, InputError
from budget_opt.model.arrays import OBJECTIVES, Objective
from tests.solvers.cluster_problems import CLUSTERS, Reading, survey

PAIR = "smoker + income"


def bounded(**bounds: dict[str, float]) -> bo.Problem:
    """The survey with bounds of single attributes."""
    plain = survey("geometric_mean", marginals=False)
    attributes = [one.with_fields(**bounds.get(one.name, {})) for one in plain.attributes]
    return plain.with_fields(attributes=attributes)


def _epsilon(problem: bo.Problem, name: str = "smoker") -> float:
    return bo.solve(problem)[name].epsilon


def test_a_member_s_bounds_are_those_of_its_cluster() -> None:
    assert _epsilon(bounded()) > 1.5
    for bounds, epsilon in (
        ({"income": {"epsilon_max": 1.25}}, 1.25),
        ({"income": {"epsilon_max": 1.5}, "smoker": {"epsilon_max": 1.25}}, 1.25),
        ({"smoker": {"epsilon": 1.0}}, 1.0),
        ({"smoker": {"epsilon_min": 3.0}, "income": {"epsilon_min": 2.0}}, 3.0),
    ):
        problem = bounded(**bounds)
        assert _epsilon(problem) == pytest.approx(epsilon, abs=1e-8)
        assert Reading.of(problem).keeps_all(bo.solve(problem).epsilons)


@pytest.mark.parametrize("members", [["smoker"], ["smoker", "income"]])
def test_a_group_counts_a_touched_cluster_once(members: list[str]) -> None:
    problem = bounded().with_fields(groups=[bo.Group("health", attributes=members, epsilon_max=1.25)])
    allocation = bo.solve(problem)
    assert allocation["smoker"].epsilon == pytest.approx(1.25, abs=1e-9)
    assert bo.verify(allocation, problem=problem).holds


def test_the_total_counts_a_cluster_once() -> None:
    allocation = bo.solve(bounded())
    assert allocation.spent_epsilon == pytest.approx(4.0, abs=1e-9)
    assert sum(block.epsilon for block in allocation.blocks) == pytest.approx(4.0, abs=1e-9)


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
def test_floors_hold_exactly_on_the_product_over_touched_blocks(
    clusters: tuple[tuple[str, ...], ...],
) -> None:
    problem = survey("min_epsilon", clusters, moments=[
        bo.CrossMoment("smoker", "income", floor=0.4), bo.CrossMoment("age", "income", "smoker", floor=0.2)
    ])  # fmt: skip
    allocation = bo.solve(problem)
    reading = Reading.of(problem)
    for moment, stated in zip(allocation.moments, reading.document["moments"], strict=True):
        assert moment.keeps_floor
        own = {block.name: block for name in moment.attributes for block in [allocation.block_of(name)]}
        assert moment.exact_retention == np.prod([block.exact_retention for block in own.values()])
        assert reading.retention(stated, allocation.epsilons) >= stated["floor"]
    assert any(moment.retention == pytest.approx(moment.floor) for moment in allocation.moments)


@pytest.mark.parametrize("objective", ["weighted_sum", "geometric_mean", "max_min", "min_variance"])
def test_a_frontier_has_a_column_a_cluster_and_matches_single_solves(objective: Objective) -> None:
    problem = survey(objective)
    found = bo.frontier(problem, total_epsilon=[2.0, 4.0])
    for row in found.rows():
        assert {f"epsilon {name}" for name in (PAIR, "age", "sex")} < row.keys()
        assert "epsilon smoker" not in row
        alone = bo.solve(problem.with_total(row["total_epsilon"])).objective
        assert row["value"] == pytest.approx(alone.value, rel=1e-3)


def test_attributes_of_a_cluster_enter_the_split_together() -> None:
    problem = survey("weighted_sum", moments=[
        bo.CrossMoment("age", "sex", weight=10.0), bo.CrossMoment("smoker", "income")
    ])  # fmt: skip
    changes = bo.frontier(problem, total_epsilon=[0.5, 12.0]).support_changes
    assert [change.gained for change in changes] == [(PAIR,)]


def test_a_coarse_grid_names_the_cluster_whose_bounds_it_misses() -> None:
    problem = bounded(smoker={"epsilon_min": 1.1}, income={"epsilon_max": 1.2})
    with pytest.raises(InfeasibleError, match=re.escape(f"between the bounds of {PAIR}, 1.1 and 1.2")):
        rounded(bo.solve(problem), 0.25)


def test_a_grid_that_gives_up_a_cluster_s_moments_names_a_finer_one() -> None:
    problem = survey("weighted_sum", moments=[
        bo.CrossMoment("age", "sex", weight=3.0), bo.CrossMoment("smoker", "income")
    ], total_epsilon=3.0)  # fmt: skip
    found = rounded(bo.solve(problem), 3.0)
    assert found.given_up
    assert found.finer is not None
    assert not rounded(bo.solve(problem), found.finer).given_up


def test_splits_with_other_clusters_are_compared_and_the_difference_is_told() -> None:
    alone, together = survey("weighted_sum", ()), survey("weighted_sum")
    splits = {"alone": bo.solve(alone), "together": bo.solve(together)}
    for asked in (alone, together, None):
        found = bo.compare(splits, asked, even=False)
        assert found.names == ("alone", "together")
        assert [len(one.allocation.blocks) for one in found.splits] == [4, 3]
        assert [one.value for one in found.splits] == [one.objective.value for one in splits.values()]
        assert any(
            "alone: every attribute alone; together: smoker + income together" in one
            for one in found.cautions
        )
        assert not any("another problem" in one for one in found.cautions)
        assert found.to_dict()["splits"][1]["epsilons"].keys() == {PAIR, "age", "sex"}
        assert "income" in str(found)
    same = bo.compare({"one": splits["together"], "hand": {PAIR: 2.0, "age": 1.0, "sex": 1.0}}, together)
    assert not any("randomize other" in one for one in same.cautions)
    assert same.reference == "even split"
    assert PAIR in str(same)


def test_an_even_split_of_other_clusters_is_not_taken_for_the_even_one() -> None:
    problem = survey("geometric_mean", CLUSTERS["two pairs"])
    other = problem.with_clusters([["smoker", "age"], ["income", "sex"]])
    found = bo.compare({"other": bo.uniform(other)}, problem)
    assert found.names == ("even split", "other")


def test_a_split_is_judged_under_its_own_clusters_only() -> None:
    problem = survey("weighted_sum")
    judged = bo.judge(problem, {"smoker": 2.0, "income": 2.0, "age": 1.0, "sex": 1.0})
    assert judged.keeps_all
    assert judged.allocation.spent_epsilon == 4.0
    assert judged.relative_gap is not None
    with pytest.raises(
        InputError, match="randomizes every attribute alone, the problem smoker \\+ income together"
    ):
        bo.judge(problem, bo.solve(problem.with_clusters([])))


def test_a_broken_group_of_a_cluster_is_measured_once() -> None:
    problem = bounded().with_fields(
        groups=[bo.Group("health", attributes=["smoker", "income"], epsilon_max=1.5)]
    )
    judged = bo.judge(problem, {PAIR: 2.0, "age": 1.0, "sex": 1.0}, quick=True)
    assert [(one.measured, one.off_by) for one in judged.broken] == [(2.0, 0.5)]


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("marginals", [False, True])
def test_the_least_total_reaches_every_wish_and_no_grid_point_below_its_bound_does(
    clusters: tuple[tuple[str, ...], ...], marginals: bool
) -> None:
    moments = [
        bo.CrossMoment("smoker", "income"), bo.CrossMoment("age", "income"),
        bo.CrossMoment("income", "sex", "smoker"),
    ]  # fmt: skip
    problem = survey("weighted_sum", clusters, marginals=marginals, moments=moments)
    found = bo.least_total(problem, standard_error=0.05, n=20_000, target="data")
    reading = Reading.of(found.allocation.question)
    inflations = [reading.inflation(one, found.allocation.epsilons) for one in reading.document["moments"]]
    assert all(np.sqrt((inflation - 1) / 20_000) <= 0.05 * (1 + 1e-6) for inflation in inflations)
    assert found.total_epsilon == pytest.approx(found.bound, rel=1e-6)
    assert any(moment.binding for moment in found.moments)
    free = problem.with_fields(total_epsilon=30.0)
    for split in Reading.of(free).splits(0.5, 12, positive=True):
        reached = [reading.inflation(one, split) for one in reading.document["moments"]]
        if all(np.sqrt((inflation - 1) / 20_000) <= 0.05 for inflation in reached):
            assert sum(split) >= found.bound


def test_what_no_total_reaches_names_the_member_whose_bound_is_in_the_way() -> None:
    plain = survey("weighted_sum", moments=[bo.CrossMoment("smoker", "age")])
    attributes = [
        one.with_fields(epsilon_max={"income": 0.5, "smoker": 0.7}.get(one.name, 9.0))
        for one in plain.attributes
    ]
    problem = plain.with_fields(attributes=attributes)
    with pytest.raises(InfeasibleError, match=r"upper bound of income 0\.5") as caught:
        bo.least_total(problem, standard_error=0.02, n=20_000)
    assert "smoker 0.7" not in str(caught.value)


def test_an_explanation_speaks_of_the_cluster_and_prices_only_the_bound_that_holds() -> None:
    problem = bounded(smoker={"epsilon_max": 1.5}, income={"epsilon_max": 1.25})
    allocation = bo.solve(problem)
    told = bo.explain(allocation)
    assert [part.name for part in told.parts] == [PAIR, "age", "sex"]
    assert told.parts[0].members == ("smoker", "income")
    assert sum(part.share for part in told.parts) == pytest.approx(1.0)
    limits = {limit.name: limit for limit in told.limits if limit.kind == "epsilon_max"}
    assert limits["smoker"].price == 0.0
    assert limits["income"].price is not None
    assert limits["income"].price > 0
    gain = limits["income"].gain
    assert gain is not None
    freed = bo.solve(bounded(smoker={"epsilon_max": 1.5})).objective.value
    assert freed is not None
    assert allocation.objective.value is not None
    assert gain[0] == pytest.approx(freed / allocation.objective.value - 1, rel=1e-3)


def test_equal_bounds_of_two_members_cost_nothing_each() -> None:
    told = bo.explain(bo.solve(bounded(smoker={"epsilon_max": 1.25}, income={"epsilon_max": 1.25})))
    assert [limit.price for limit in told.limits if limit.kind == "epsilon_max"] == [0.0, 0.0]
    changes = [limit.highest_change for limit in told.limits if limit.kind == "epsilon_max"]
    assert changes == pytest.approx([0.0, 0.0], abs=1e-6)


def test_an_even_split_is_told_with_its_clusters() -> None:
    problem = survey("geometric_mean", total_epsilon=3.0)
    told = bo.explain(bo.uniform(problem))
    assert "each of two attributes and one cluster has epsilon 1" in told.sentences[0]
    assert told.exchange is not None
    assert {told.exchange.giver, told.exchange.taker} <= {PAIR, "age", "sex"}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_prices_are_derivatives_of_the_best_value(objective: Objective) -> None:
    problem = survey(objective, total_epsilon=4.0)
    allocation = bo.solve(problem, gap=1e-8)
    found = prices(allocation, problem)
    assert found is not None
    step = 1e-3
    ends = [bo.solve(problem.with_total(4.0 + sign * step), gap=1e-8).objective.value for sign in (-1, 1)]
    assert None not in ends
    slope = (ends[1] - ends[0]) / (2 * step)  # type: ignore[operator]
    assert found.budgets["total_epsilon"].raising == pytest.approx(slope, rel=2e-3, abs=1e-5)
    assert len(found.bounds) == len(problem.blocks)


def test_check_says_what_a_cluster_costs_and_which_member_nothing_needs() -> None:
    idle = survey("weighted_sum", moments=[bo.CrossMoment("smoker", "age")])
    notes = check(idle).warnings
    assert any(note.startswith(f"{PAIR} are randomized together, with 8 joint categories") for note in notes)
    assert any(note.startswith("income is in no moment and only makes the cluster") for note in notes)
    assert not any(note.startswith("income is in no moment: it gets") for note in notes)
    unused = survey("weighted_sum", moments=[bo.CrossMoment("sex", "age")])
    assert any(
        note.startswith(f"{PAIR} is in no moment: it gets its minimum, 0") for note in check(unused).warnings
    )
    assert not any("cluster" in note for note in check(survey("weighted_sum", ())).warnings)


def test_a_quick_split_starts_anew_where_the_start_has_other_clusters() -> None:
    problem = survey("weighted_sum")
    other = bo.solve(problem.with_clusters(CLUSTERS["two pairs"]))
    found, best = quick_split(problem, other).objective.value, bo.solve(problem).objective.value
    assert found == pytest.approx(best, rel=1e-3)
    # as many blocks, of other members
    turned = bo.solve(problem.with_clusters([["smoker", "age"]]))
    assert quick_split(problem, turned).objective.value == pytest.approx(best, rel=1e-3)


def test_levels_keep_the_first_level_s_value_with_clusters() -> None:
    moments: list[Any] = [
        bo.CrossMoment("smoker", "income", "age"), bo.CrossMoment("sex", "age", level=2),
        bo.CrossMoment("smoker", "sex", level=2),
    ]  # fmt: skip
    problem = survey("geometric_mean", moments=moments)
    first = bo.solve(problem.with_fields(moments=[moments[0]])).objective.value
    assert bo.solve(problem).objective.value == pytest.approx(first, rel=2e-3)


def test_the_largest_floor_of_a_frontier_is_what_the_cluster_keeps_alone() -> None:
    problem = survey(
        "weighted_sum", moments=[bo.CrossMoment("smoker", "income"), bo.CrossMoment("age", "sex")]
    )
    found = bo.frontier(problem, moment=("income", "smoker"), floor=[0.3, 0.95])
    most = Reading.of(problem).kept(0, 4.0)
    assert found.feasible_from == pytest.approx(most, rel=1e-6)
    assert [point.status for point in found.points] == ["optimal", "infeasible"]
    assert found.points[0].allocation is not None
    assert found.points[0].allocation.retention("smoker", "income") >= 0.3


def test_the_price_of_a_member_s_bound_is_the_derivative_of_the_best_value() -> None:
    def best(most: float) -> float:
        value = bo.solve(bounded(income={"epsilon_max": most}), gap=1e-9).objective.value
        assert value is not None
        return value

    told = bo.explain(bo.solve(bounded(income={"epsilon_max": 1.25})))
    price = next(limit.price for limit in told.limits if limit.name == "income")
    assert price == pytest.approx((best(1.251) - best(1.249)) / 0.002, rel=1e-3)


def test_a_total_with_a_delta_holds_for_clusters() -> None:
    problem = survey("geometric_mean", total_delta=1e-5, total_epsilon=2.0)
    allocation = bo.solve(problem)
    assert bo.verify(allocation, problem=problem).holds
    alone = bo.solve(problem.with_fields(total_delta=0.0)).objective.value
    assert allocation.objective.value is not None
    assert alone is not None
    assert allocation.objective.value >= alone


def test_r21_the_epsilons_of_clusters_add_up_as_decimals() -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=2, epsilon=0.1) for name in names],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("c", "e")],
        clusters=[["a", "b"], ["c", "d"], ["e", "f"]],
        groups=[bo.Group("g", attributes=["a", "b", "c"], epsilon_max=0.2)],
        total_epsilon=0.3,
    )
    allocation = bo.solve(problem)
    assert allocation.spent_epsilon == 0.3
    assert bo.judge(problem, allocation, quick=True).keeps_all


def test_what_if_says_that_its_clusters_are_given() -> None:
    pair = [bo.Attribute(name, categories=2) for name in "uv"]
    asked = bo.Problem(attributes=pair, moments=[bo.CrossMoment("u", "v")], total_epsilon=2.0)
    told = "all of this is with these clusters: u + v."
    assert told in str(bo.frontier(asked.with_clusters([["u", "v"]]), total_epsilon=[1.0, 2.0]))
    assert "with these clusters" not in str(bo.frontier(asked, total_epsilon=[1.0, 2.0]))
