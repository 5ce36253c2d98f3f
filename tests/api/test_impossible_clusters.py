"""Impossible wishes of problems with clusters: what conflicts is named, and the ways out work."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.errors import InfeasibleError, InputError
from tests.api.test_clusters import bounded
from tests.solvers.cluster_problems import survey


def _infeasible(problem: bo.Problem) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        bo.solve(problem)
    return caught.value


IMPOSSIBLE: dict[str, tuple[bo.Problem, str, str, tuple[str, ...]]] = {
    "upper bounds": (
        bounded(smoker={"epsilon_max": 1.0}, income={"epsilon_max": 1.1}),
        "epsilon_max",
        "smoker",
        ("income",),
    ),
    "one upper bound": (bounded(income={"epsilon_max": 1.0}), "epsilon_max", "income", ()),
    "a pin and a bound": (
        bounded(smoker={"epsilon_max": 1.1}, income={"epsilon": 1.0}),
        "epsilon",
        "income",
        ("smoker",),
    ),
    "two pins": (bounded(smoker={"epsilon": 1.0}, income={"epsilon": 1.0}), "epsilon", "smoker", ("income",)),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_an_impossible_floor_names_the_attribute_that_states_the_bound_and_the_way_out_works(
    case: str,
) -> None:
    problem, kind, name, also = IMPOSSIBLE[case]
    wished = problem.with_fields(moments=[bo.CrossMoment("smoker", "income", floor=0.3)])
    failure = _infeasible(wished)
    member = next(one for one in failure.conflict if one.kind == kind)
    assert (member.name, member.also) == (name, also)
    assert member.enough is not None
    assert ("also" in member.to_dict()) == bool(also)
    if also:
        assert f"of {name} (and the bounds of {also[0]}) to {member.enough:g}" in str(failure)

    def moved(one: bo.Attribute) -> bo.Attribute:
        if one.name not in (name, *also):
            return one
        stated = "epsilon" if one.epsilon is not None else "epsilon_max"
        return one.with_fields(**{stated: member.enough})

    way_out = wished.with_fields(attributes=[moved(one) for one in wished.attributes])
    assert bo.solve(way_out).moments[0].keeps_floor
    if also:
        alone = [moved(one) if one.name == name else one for one in wished.attributes]
        with pytest.raises((InfeasibleError, InputError)):
            bo.solve(wished.with_fields(attributes=alone))


def test_the_ways_out_of_a_group_and_of_a_total_work() -> None:
    wished = survey("min_epsilon", moments=[bo.CrossMoment("smoker", "sex", floor=0.3)])
    grouped = wished.with_fields(groups=[bo.Group("g", attributes=["income", "sex"], epsilon_max=1.0)])
    failure = _infeasible(grouped)
    group = next(one for one in failure.conflict if one.kind == "group")
    assert group.enough is not None
    raised = bo.Group("g", attributes=["income", "sex"], epsilon_max=group.enough)
    assert bo.solve(wished.with_fields(groups=[raised])).moments[0].keeps_floor
    poor = wished.with_total(1.0)
    least = _infeasible(poor).least_total
    assert least is not None
    assert bo.solve(poor.with_total(least)).moments[0].keeps_floor


def test_an_impossible_problem_names_design_where_clusters_or_groupings_are_left_to_it() -> None:
    groups = [["a", "b"], ["c", "d"]]
    pair = [bo.Attribute("u", categories=4), bo.Attribute("v", categories=list("abcd"), ordered=True)]
    asked = bo.Problem(attributes=pair, moments=[bo.CrossMoment("u", "v", floor=0.9)], total_epsilon=2.0)

    def why(problem: bo.Problem) -> tuple[str, tuple[str, ...]]:
        with pytest.raises(bo.InfeasibleError) as failure:
            bo.solve(problem)
        return str(failure.value), failure.value.why.left_to_design

    said, left = why(asked)
    assert left == ("what to randomize together",)
    assert said.splitlines()[-1] == (
        "  Or let design choose what to randomize together (budget-opt design): that may need less, and was "
        "not tried here."
    )
    candidates = [pair[0], pair[1].with_fields(groupings=[groups])]
    assert why(asked.with_fields(attributes=candidates))[1] == (
        "what to randomize together",
        "which categories to merge",
    )
    settled = [
        asked.with_clusters([["u", "v"]]),
        asked.with_fields(max_cells=15),
        asked.with_fields(moments=[bo.CrossMoment("u", floor=0.9)], total_epsilon=0.5),
    ]
    for problem in settled:
        said, left = why(problem)
        assert left == ()
        assert "design" not in said
