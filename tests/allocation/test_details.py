"""What groupings leave of a moment, in values, floors, files and verification; and public columns."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.allocation.document import allocation_of
from budget_opt.errors import AllocationError, ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import OBJECTIVES, FloatArray, Objective
from tests.strategies import problems

GROUPING = {"young": ["[18, 30)", "[30, 45)"], "mid": ["[45, 65)"], "old": ["[65, 90]"]}
MARGINAL = [0.25, 0.25, 0.3, 0.2]


def problem(objective: Objective = "weighted_sum", **limits: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("age", bins=[18, 30, 45, 65, 90], marginal=MARGINAL, grouping=GROUPING),
            bo.Attribute("region", categories=["n", "s", "e", "w"], grouping=[["n", "s"], ["e", "w"]]),
            bo.Attribute("smoker", categories=2),
        ],
        moments=[
            bo.CrossMoment("age", "region", weight=2.0, floor=limits.get("floor", 0.05)),
            bo.CrossMoment("age", "wave", "smoker", target=2.0, variance=3.0),
            bo.CrossMoment("region", "smoker", ceiling=limits.get("ceiling")),
        ],
        public=[bo.PublicColumn("wave", why="the same for everybody")],
        total_epsilon=None if objective == "min_epsilon" else 4.0,
        objective=objective,
    )


@cache
def solved(objective: Objective, floor: float = 0.05) -> bo.Allocation:
    return bo.solve(problem(objective, floor=floor))


def merged_by_hand(asked: bo.Problem) -> bo.Problem:
    """The merged categories declared as they are, and what a split is judged by in their own units."""
    age = asked.attributes[0]
    details = [float(asked.detail_of(moment)) for moment in asked.moments]
    attributes = [
        bo.Attribute("age", categories=3, scores=age.score_values, marginal=age.shares),
        bo.Attribute("region", categories=["n or s", "e or w"], marginal=[0.5, 0.5]),
        bo.Attribute("smoker", categories=2),
    ]
    scaled = [
        moment.with_fields(
            attributes=asked.attributes_in(moment),
            weight=moment.weight * (detail if asked.objective == "weighted_sum" else 1.0),
            floor=None if moment.floor is None else moment.floor / detail,
            ceiling=None if moment.ceiling is None else moment.ceiling / detail,
            target=moment.target / detail,
            variance=moment.variance / detail,
        )
        for moment, detail in zip(asked.moments, details, strict=True)
    ]
    return bo.Problem(
        attributes=attributes,
        moments=scaled,
        total_epsilon=asked.total_epsilon,
        objective=asked.objective,
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("ceiling", [None, 0.07])
def test_a_grouped_problem_is_that_of_the_merged_categories_in_other_units(
    objective: Objective, ceiling: float | None
) -> None:
    asked = problem(objective, ceiling=ceiling)
    found, by_hand = bo.solve(asked), bo.solve(merged_by_hand(asked))
    assert found.objective.value is not None
    assert by_hand.objective.value is not None
    factor = math.exp(asked.arrays.log_scale)
    assert math.isclose(found.objective.value, by_hand.objective.value * factor, rel_tol=2e-6)
    assert found.objective.bound is not None
    assert found.objective.status == "optimal"
    bo.verify(found, problem=asked).require()
    for moment, other in zip(found.moments, by_hand.moments, strict=True):
        if objective != "weighted_sum":
            assert math.isclose(moment.retention, other.retention * float(moment.detail), rel_tol=1e-3)


def test_values_are_made_of_the_stated_retentions() -> None:
    for objective in OBJECTIVES:
        found = solved(objective)
        kept = np.array([moment.retention for moment in found.moments])
        weight = np.array([moment.weight for moment in found.moments])
        inflation = np.array([moment.variance_inflation or math.inf for moment in found.moments])
        detail = np.array([float(moment.detail) for moment in found.moments])
        expected = {
            "weighted_sum": weight @ kept,
            "geometric_mean": math.prod(kept ** (weight / weight.sum())),
            "max_min": min(kept[0], kept[1] / 2.0, kept[2]),
            "min_epsilon": found.spent_epsilon,
            "min_variance": weight @ (np.array([1.0, 3.0, 1.0]) * inflation / detail),
        }[objective]
        assert found.objective.value is not None
        assert math.isclose(found.objective.value, expected, rel_tol=1e-9)


def test_a_retention_is_the_product_of_lambda_times_the_details_exactly() -> None:
    found = solved("geometric_mean")
    age, region = found["age"], found["region"]
    moment = found.moments[0]
    assert moment.detail == age.declared.detail * Fraction(1, 3)
    assert moment.exact_retention == age.exact_retention * region.exact_retention * moment.detail
    assert moment.kept == age.exact_retention * region.exact_retention
    assert found.retention("age", "region") == moment.retention
    assert found.retention("age", "wave", "smoker") == found.moments[1].retention


def test_a_binding_floor_is_kept_exactly_of_what_the_grouping_leaves() -> None:
    found = solved("min_epsilon", floor=0.25)
    assert found.moments[0].exact_retention >= exact(0.25)
    assert found.moments[0].exact_retention < exact(0.2500001)


def test_a_floor_above_what_a_grouping_leaves_is_refused_with_both_numbers() -> None:
    with pytest.raises(ProblemError, match=r"0\.35.*grouping of age and region leaves a share of 0\.3122"):
        problem(floor=0.35)


def test_the_file_states_grouping_and_detail_and_reads_back(tmp_path: Path) -> None:
    found = solved("max_min")
    found.write(tmp_path / "a.json")
    again = bo.Allocation.read(tmp_path / "a.json")
    assert again.moments == found.moments
    assert again.question == found.question
    document = found.to_dict()
    assert document["attributes"][0]["grouping"] == GROUPING
    age = _share(np.array([24, 37.5, 55, 77.5]), np.array([30.75, 30.75, 55, 77.5]), np.array(MARGINAL))
    stated = [moment.get("detail") for moment in document["moments"]]
    assert stated == pytest.approx([age / 3, age, 1 / 3])
    bo.verify(again, problem=problem("max_min")).require()


def _share(fine: FloatArray, merged: FloatArray, share: FloatArray) -> float:
    """The part of the variance that is left."""
    variances = [float(share @ (f - share @ f) ** 2) for f in (merged, fine)]
    return variances[0] / variances[1]


@pytest.mark.parametrize("change", ["detail", "retention", "grouping", "no detail"])
def test_a_file_that_states_another_detail_is_refused(change: str) -> None:
    document = solved("max_min").to_dict()
    moment = document["moments"][0]
    if change == "no detail":
        del moment["detail"]
    elif change == "grouping":
        document["attributes"][1]["grouping"] = [["n", "e"], ["s"], ["w"]]
    else:
        moment[change] *= 1.5
    with pytest.raises(AllocationError):
        allocation_of(document)


def test_candidates_are_not_part_of_an_allocation() -> None:
    asked = problem().with_fields(
        attributes=[
            problem().attributes[0].with_fields(groupings=[GROUPING]),
            *problem().attributes[1:],
        ]
    )
    assert "groupings" not in bo.uniform(asked).to_dict()["attributes"][0]


def test_with_grouping_merges_one_attribute_and_nothing_else() -> None:
    asked = problem()
    plain = asked.with_grouping("age", None)
    assert plain.attribute("age").cardinality == 4
    assert plain.with_grouping("age", GROUPING) == asked
    assert plain.moments == asked.moments
    with pytest.raises(ProblemError, match="'\\[65, 90\\]' is in none"):
        asked.with_grouping("age", [["[18, 30)"], ["[30, 45)", "[45, 65)"]])


def test_a_moment_of_public_columns_alone_is_refused_and_a_group_has_none() -> None:
    with pytest.raises(ProblemError, match="must name an attribute"):
        problem().with_fields(moments=[bo.CrossMoment("wave"), bo.CrossMoment("age")])
    with pytest.raises(ProblemError, match="is not an attribute"):
        problem().with_fields(groups=[bo.Group("g", attributes=["wave"], epsilon_max=1.0)])


def test_a_public_column_costs_nothing_and_keeps_everything() -> None:
    asked = problem("geometric_mean")
    without = asked.with_fields(
        moments=[moment.with_fields(attributes=asked.attributes_in(moment)) for moment in asked.moments]
    )
    first, second = solved("geometric_mean"), bo.solve(without)
    assert first.epsilons.tolist() == second.epsilons.tolist()
    assert [one.retention for one in first.moments] == [one.retention for one in second.moments]
    assert [one.variance_inflation for one in first.moments] == [
        one.variance_inflation for one in second.moments
    ]
    assert asked.arrays.incidence.toarray().tolist() == without.arrays.incidence.toarray().tolist()


def test_prices_of_floors_are_per_unit_of_the_stated_floor() -> None:
    """Against the difference of two solutions."""
    asked = problem("geometric_mean", floor=0.12)
    found = bo.solve(asked, gap=1e-9)
    moved = bo.solve(problem("geometric_mean", floor=0.1201), gap=1e-9)
    price = found.moments[0].floor_price
    assert price is not None
    assert found.objective.value is not None
    assert moved.objective.value is not None
    assert math.isclose(price, (moved.objective.value - found.objective.value) / 1e-4, rel_tol=0.01)


def test_rules_may_name_public_columns_and_ask_for_no_moment_of_these_alone() -> None:
    asked = problem()
    rules: list[dict[str, Any]] = [
        {"all_pairs": ["age", "smoker", "wave", "site"]},
        {"pairs_with": "wave"},
        {"formula": "smoker ~ region + wave + site"},
    ]
    pairs = [("age", "smoker"), ("age", "wave"), ("age", "site"), ("smoker", "wave"), ("smoker", "site")]
    expected = [pairs, [("wave", name) for name in asked.names], None]
    public = [*asked.public, bo.PublicColumn("site", why="public")]
    for rule, moments in zip(rules, expected, strict=True):
        found = asked.with_fields(moments=[], public=public, moment_rules=[rule]).moments
        if moments is not None:
            assert [moment.attributes for moment in found] == moments
        assert all(asked.attributes_in(moment) for moment in found)
        assert any("wave" in moment.attributes for moment in found)


@st.composite
def grouped(draw: st.DrawFn) -> bo.Problem:
    """A random problem of which some attributes have two neighbours merged, so that variance is left."""
    asked, refused = draw(problems()), []
    for attribute in asked.attributes:
        labels = [label for label in attribute.domain.labels if label is not None]
        if len(labels) < 3 or not draw(st.booleans()):
            continue
        place = draw(st.integers(0, len(labels) - 2))
        merged = [labels[place : place + 2]]
        alone = [[[label] for label in part] for part in (labels[:place], labels[place + 2 :])]
        try:
            asked = asked.with_grouping(attribute.name, [*alone[0], *merged, *alone[1]])
        except ProblemError as failure:
            refused += [fault.limit for fault in failure.faults]
    known = ("variance", "cannot be met", "differ in text")
    assert all(any(word in limit for word in known) for limit in refused)
    return asked


@given(grouped())
@settings(max_examples=12)
def test_any_grouped_problem_reads_back_and_its_even_split_keeps_what_it_states(asked: bo.Problem) -> None:
    assert bo.Problem.from_dict(asked.to_dict()) == asked
    found = bo.uniform(asked)
    again = allocation_of(found.to_dict())
    assert again.moments == found.moments
    assert [one.domain for one in again.attributes] == [one.domain for one in asked.attributes]
    failed = [check.name for check in bo.verify(again, problem=asked).failed]
    assert not set(failed) - {"floor", "ceiling"}
