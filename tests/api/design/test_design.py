"""The best clusters together with the best split: against brute force, and the laws of the answer."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.api.design.result import ALONE, CHOSEN, CHOSEN_EVEN, DEPENDENCE, EVEN, STATED
from budget_opt.errors import InfeasibleError, InputError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED, Objective
from budget_opt.model.values import MAX_CELLS
from budget_opt.solvers.answer import Settings
from budget_opt.solvers.partitions import search
from budget_opt.solvers.table import solve
from tests.solvers.partitions.designs import attained, best_of_all, clustered, random_design

CONVEX: tuple[Objective, ...] = ("geometric_mean", "max_min", "min_epsilon", "min_variance")


def slow(objective: Objective) -> Any:
    """Every partition of a weighted sum is a global search."""
    return pytest.param(objective, marks=pytest.mark.slow)


def survey(objective: Objective = "geometric_mean", **fields: Any) -> bo.Problem:
    """Two tight pairs and a link between them."""
    return bo.Problem(
        **{
            "attributes": [
                bo.Attribute("smoker", categories=2),
                bo.Attribute("income", categories=4),
                bo.Attribute("region", categories=4),
                bo.Attribute("age", categories=3),
            ],
            "moments": [
                bo.CrossMoment("smoker", "income", weight=3.0),
                bo.CrossMoment("region", "age", weight=2.0),
                bo.CrossMoment("income", "region", weight=0.5),
            ],
            "total_epsilon": 4.0,
            "objective": objective,
            "clusters": "auto",
            **fields,
        }
    )


def equals_brute_force(problem: bo.Problem) -> None:
    expected = best_of_all(problem)
    if expected is None:
        with pytest.raises(InfeasibleError):
            bo.design(problem)
        return
    design = bo.design(problem)
    assert design.status == "optimal"
    assert attained(design.allocation) == pytest.approx(expected, rel=2e-6)
    if problem.objective in MINIMIZED:
        assert design.bound <= expected * (1 + 1e-7)
    else:
        assert design.bound >= expected * (1 - 1e-7)


@pytest.mark.parametrize("objective", CONVEX)
def test_the_design_equals_the_best_of_all_partitions(objective: Objective) -> None:
    equals_brute_force(random_design(32, 4, objective))


def test_the_design_of_a_weighted_sum_equals_the_best_of_all_partitions() -> None:
    equals_brute_force(random_design(41, 3, "weighted_sum"))


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "size"), [*((one, 5) for one in CONVEX), ("weighted_sum", 4)])
def test_the_design_of_more_attributes_equals_the_best_of_all_partitions(
    objective: Objective, size: int
) -> None:
    equals_brute_force(random_design(50, size, objective))


@pytest.mark.slow
def test_the_design_of_seven_attributes_equals_the_best_of_877_partitions() -> None:
    names = [f"x{i}" for i in range(7)]
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=2 + i % 3) for i, name in enumerate(names)],
        moments=[
            bo.CrossMoment(one, two, weight=1.0 + (3 * i) % 5)
            for i, (one, two) in enumerate(itertools.combinations(names, 2))
            if i % 2 == 0
        ],
        total_epsilon=5.0,
        objective="geometric_mean",
        clusters="auto",
        max_cells=10_000,
    )
    assert sum(1 for _ in clustered(problem)) == 877
    equals_brute_force(problem)


@pytest.mark.parametrize("objective", [*CONVEX, slow("weighted_sum")])
def test_a_design_keeps_every_budget_exactly_and_is_never_worse_than_no_clusters(
    objective: Objective,
) -> None:
    moments = [bo.CrossMoment("smoker", "income", floor=0.3), bo.CrossMoment("region", "age", weight=2.0)]
    group = bo.Group(name="g", attributes=["smoker", "income"], epsilon_max=3.1)
    problem = survey(objective, moments=moments, groups=[group], total_epsilon=5.1)
    design = bo.design(problem)
    allocation = design.allocation
    spent = sum((exact(block.epsilon) for block in allocation.blocks), Fraction(0))
    assert spent <= exact(5.1)
    in_group = {allocation.block_of(name).name for name in group.attributes}
    assert sum(exact(b.epsilon) for b in allocation.blocks if b.name in in_group) <= exact(3.1)
    assert all(moment.keeps_floor for moment in allocation.moments)
    bo.verify(allocation, problem=design.problem).require()
    alone = bo.solve(problem.with_clusters([]))
    sign = -1.0 if objective in MINIMIZED else 1.0
    assert sign * attained(allocation) >= sign * attained(alone) * (1 - sign * 1e-9)
    assert design[CHOSEN].value == allocation.objective.value
    assert design[ALONE].value == pytest.approx(alone.objective.value)


def test_the_answer_is_the_same_every_time() -> None:
    problem = random_design(31, 4, "max_min")
    first, second = bo.design(problem), bo.design(problem)
    assert first.problem == second.problem
    assert first.allocation.epsilons.tolist() == second.allocation.epsilons.tolist()
    assert first.bound == second.bound


def test_a_bound_holds_where_the_partitions_are_too_many_to_list(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_design(32, 4, "max_min")
    best = bo.design(problem)
    monkeypatch.setattr(search, "MOST_LISTED", 3)
    covered = bo.design(problem)
    assert covered.considered is None
    assert covered.bound >= best.bound * (1 - 1e-9)
    monkeypatch.setattr(search, "MOST_BLOCKS", 3)
    assert bo.design(problem).bound >= best.bound * (1 - 1e-9)


@pytest.mark.parametrize("objective", [slow("weighted_sum"), "min_variance"])
def test_a_time_limit_leaves_a_split_with_a_bound_that_holds(objective: Objective) -> None:
    problem = random_design(34, 5, objective, groups=[])
    best, hasty = bo.design(problem), bo.design(problem, time_limit=0.02)
    assert hasty.allocation.spent_epsilon <= (problem.total_epsilon or 0)
    if objective in MINIMIZED:
        assert hasty.bound <= attained(best.allocation)
    else:
        assert hasty.bound >= attained(best.allocation)
    assert hasty.status == "optimal" or hasty.relative_gap > 1e-6


def test_a_search_that_ends_at_its_limit_is_not_called_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_design(33, 5, "min_variance", groups=[])
    monkeypatch.setattr(search, "MOST_PROVED", 0)
    monkeypatch.setattr(search, "MOST_BLOCKS", 0)
    design = bo.design(problem)
    assert design.relative_gap > 1e-6
    assert design.status == "feasible"


def test_a_partition_that_makes_floors_feasible_is_found() -> None:
    moments = [bo.CrossMoment("smoker", "income", floor=0.7), bo.CrossMoment("region", "age")]
    problem = survey(moments=moments)
    with pytest.raises(InfeasibleError):
        bo.solve(problem.with_clusters([]))
    design = bo.design(problem)
    assert design.allocation.moments[0].keeps_floor
    assert design.allocation.block_of("smoker").names == ("smoker", "income")
    assert design[ALONE].allocation is None
    assert design[ALONE].why is not None
    assert not design[EVEN].keeps_all
    assert design.moments[0].retention_alone is None
    assert "impossible" in str(design)


def test_pins_that_together_exceed_the_total_fit_where_they_are_joined() -> None:
    attributes = [bo.Attribute(name, categories=2, epsilon=3.0) for name in ("a", "b")]
    problem = bo.Problem(
        attributes=attributes, moments=[bo.CrossMoment("a", "b")], total_epsilon=4.0, clusters="auto"
    )
    assert bo.design(problem).problem.clusters == (("a", "b"),)


def test_an_impossible_wish_is_explained_with_a_total_that_would_do() -> None:
    moments = [bo.CrossMoment("smoker", "income", floor=0.9), bo.CrossMoment("region", "age", floor=0.9)]
    problem = survey(moments=moments)
    with pytest.raises(InfeasibleError) as caught:
        bo.design(problem)
    why = caught.value.why
    assert why.total == 4.0
    assert why.least_total is not None
    assert why.least_total_bound is not None
    assert why.least_total_bound <= why.least_total <= why.least_total_bound * 1.001
    assert "smoker + income" in str(caught.value)
    assert f"Raise total_epsilon to {why.least_total:g}" in str(caught.value)
    enough = bo.design(problem.with_total(why.least_total))
    assert all(moment.keeps_floor for moment in enough.allocation.moments)
    for one in clustered(problem.with_fields(max_cells=64).with_total(why.least_total_bound * 0.999)):
        with pytest.raises(InfeasibleError):
            solve(one.arrays, Settings(explanation_limit=0.0))


def test_an_impossible_wish_that_no_total_meets_is_said_to_be_one() -> None:
    attributes = [bo.Attribute(name, categories=4, epsilon_max=0.5) for name in ("a", "b")]
    problem = bo.Problem(
        attributes=attributes,
        moments=[bo.CrossMoment("a", "b", floor=0.9)],
        total_epsilon=4.0,
        clusters="auto",
    )
    with pytest.raises(InfeasibleError, match="whatever the total"):
        bo.design(problem)


def test_a_cluster_has_64_cells_at_most_where_nothing_is_said() -> None:
    assert bo.design(survey()).max_cells == MAX_CELLS == 64


@pytest.mark.parametrize("max_cells", [8, 12])
def test_no_cluster_has_more_cells_than_asked_for(max_cells: int) -> None:
    design = bo.design(survey(), max_cells=max_cells)
    assert design.max_cells == max_cells
    assert design.clusters
    assert all(one.cells <= max_cells for one in design.clusters)
    assert design.problem.max_cells == max_cells
    assert bo.design(survey(max_cells=max_cells)).problem == design.problem


def test_where_no_cluster_is_worth_it_there_is_none() -> None:
    problem = survey(moments=[bo.CrossMoment("income"), bo.CrossMoment("region")], total_epsilon=0.1)
    design = bo.design(problem)
    assert design.problem.clusters == ()
    assert design.problem.max_cells is None
    assert design.clusters == design.members == ()
    assert design.lost == ()
    assert "no clusters" in str(design)


def test_the_problems_own_clusters_are_a_start_and_are_compared() -> None:
    stated = survey(clusters=[["smoker", "region"]], max_cells=64)
    design = bo.design(stated)
    assert design.problem.clusters == bo.design(survey()).problem.clusters
    assert design[STATED].value == pytest.approx(bo.solve(stated).objective.value)
    with pytest.raises(InputError, match="max_cells"):
        bo.design(survey(clusters=[["income", "region"]]), max_cells=8)


def test_what_is_compared_is_what_it_says() -> None:
    design = bo.design(survey(), n=1000)
    problem = survey().with_clusters([])
    names = [one.name for one in design.alternatives]
    assert names == [EVEN, ALONE, DEPENDENCE, CHOSEN_EVEN, CHOSEN]
    assert design[EVEN].value == bo.uniform(problem).objective.value
    assert design[CHOSEN_EVEN].value == bo.uniform(design.problem).objective.value
    # the largest weights first; all four together have 96 cells
    assert design[DEPENDENCE].clusters == (("smoker", "income"), ("region", "age"))
    assert design[ALONE].ratio == 1.0
    rows = design.rows()
    assert [row["alternative"] for row in rows] == names
    document = json.loads(json.dumps(design.to_dict(), allow_nan=False))
    assert bo.Problem.from_dict(document["problem"]) == design.problem
    assert document["alternatives"][1]["value"] == design[ALONE].value
    with pytest.raises(InputError, match="alternative"):
        design["mine"]


def test_what_is_lost_is_said() -> None:
    problem = survey()
    design = bo.design(problem, n=1000)
    alone = bo.solve(problem.with_clusters([]))
    joined = next(one for one in design.clusters if "smoker" in one.members)
    assert joined.cells == math.prod(problem.attribute(name).cardinality for name in joined.members)
    assert joined.records_a_cell == 1000 / joined.cells
    member = next(one for one in design.members if one.name == "smoker")
    assert member.epsilon_alone == alone["smoker"].epsilon
    assert member.epsilon == design.allocation["smoker"].epsilon
    # uniform marginals: the inflation of a marginal is 1 / lambda^2
    assert member.variance_inflation == pytest.approx(1 / design.allocation["smoker"].retention ** 2)
    assert member.variance_inflation_alone == pytest.approx(1 / alone["smoker"].retention ** 2)
    assert member.records == pytest.approx(1000 * design.allocation["smoker"].retention ** 2)
    twice = [moment.label for moment in design.moments if moment.touches_twice]
    assert "smoker x income" in twice
    text = str(design)
    assert "a change of one of them alone" in text.replace("\n", " ")
    assert "factor on the function of the cluster" in text.replace("\n", " ")


def test_given_dependences_are_compared_and_do_not_choose() -> None:
    odd = {("smoker", "age"): 0.9, ("income", "region"): 0.05}
    design, plain = bo.design(survey(), dependence=odd), bo.design(survey())
    assert design[DEPENDENCE].clusters == (("smoker", "age"),)
    assert "were given" in design.dependence
    assert (design.problem, design.bound, design.solved) == (plain.problem, plain.bound, plain.solved)


@pytest.mark.parametrize("objective", ["geometric_mean", "min_variance"])
def test_groupings_are_chosen_together_with_clusters(objective: Objective) -> None:
    fine = bo.Attribute(
        "income", categories=8, groupings=[[[0, 1, 2, 3], [4, 5, 6, 7]], [[0], [*range(1, 8)]]]
    )
    attributes = [bo.Attribute("smoker", categories=2), fine, bo.Attribute("age", categories=3)]
    moments = [bo.CrossMoment("smoker", "income"), bo.CrossMoment("income", "age")]
    problem = survey(objective, attributes=attributes, moments=moments, total_epsilon=1.5, max_cells=16)
    variants = [problem, *(problem.with_grouping("income", one) for one in fine.groupings or ())]
    values = [best_of_all(one) for one in variants]
    best = (min if objective in MINIMIZED else max)(value for value in values if value is not None)
    design = bo.design(problem)
    assert design.status == "optimal"
    assert attained(design.allocation) == pytest.approx(best, rel=2e-6)
    assert design.groupings == {"income": "0 to 3, 4 to 7"}
    assert design.problem.attribute("income").grouping == (fine.groupings or ())[0]


def test_merged_bins_are_named_by_the_bins_that_are_released() -> None:
    (merged,) = bo.groupings_from_edges([0, 5, 10, 15, 20], [0, 10, 20])
    age = bo.Attribute("age", bins=[0, 5, 10, 15, 20], groupings=[merged])
    attributes = [bo.Attribute("smoker", categories=2), age]
    moments = [bo.CrossMoment("smoker", "age")]
    design = bo.design(survey(attributes=attributes, moments=moments, total_epsilon=1.0))
    assert design.groupings == {"age": "[0, 10), [10, 20]"}
    told = " ".join(str(design).split())
    assert "age in coarser categories: [0, 10), [10, 20]" in told
    assert "retention (with merging) of" in told
    assert "80.0 % of its score's variance" in told


def test_attributes_that_share_no_moment_may_be_worth_joining() -> None:
    attributes = [bo.Attribute(name, categories=r) for name, r in {"a": 2, "b": 2, "c": 40}.items()]
    moments = [bo.CrossMoment("a", "c"), bo.CrossMoment("b", "c")]
    problem = survey(attributes=attributes, moments=moments, total_epsilon=8.0)
    assert bo.design(problem).problem.clusters == (("a", "b"),)


def test_where_no_clusters_are_impossible_it_says_why_and_what_the_ratios_are_to() -> None:
    tight = survey(moments=[bo.CrossMoment("smoker", "income", floor=0.6), bo.CrossMoment("region", "age")])
    found = bo.design(tight)
    alone = found[ALONE]
    assert alone.allocation is None
    assert alone.why is not None
    assert alone.why.startswith("the floors need a total epsilon of at least ")
    assert "They conflict in: smoker x income >= 0.6" in alone.why
    assert "design" not in alone.why
    assert found.ratio_to != ALONE
    assert found[found.ratio_to].ratio == 1.0
    assert found[CHOSEN].ratio is not None
    said = " ".join(str(found).split())
    assert f"{ALONE}: the floors need" in said
    assert f"The ratios are to: {found.ratio_to}." in said
    assert found.to_dict()["ratio_to"] == found.ratio_to
    loose = bo.design(survey())
    assert loose.ratio_to == ALONE
    assert loose[ALONE].ratio == 1.0
    assert "The ratios are to" not in str(loose)
