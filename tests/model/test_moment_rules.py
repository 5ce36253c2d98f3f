"""Moment rules of a problem are expanded when it is built; what is left is a problem like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import ProblemError
from budget_opt.model.moments.rules import MomentRule, origins_of

NAMES = ("income", "education", "age", "sex")
ATTRIBUTES = [{"name": name, "categories": 3} for name in NAMES]


def document(*rules: Any, **fields: Any) -> dict[str, Any]:
    return {
        "format": "budget-opt/problem",
        "version": 1,
        "total_epsilon": 3.0,
        "attributes": ATTRIBUTES,
        "moment_rules": list(rules),
        **fields,
    }


RULES: list[tuple[dict[str, Any], list[bo.CrossMoment]]] = [
    (
        {"formula": "income ~ education * age", "weight": 2, "floor": 0.01},
        list(bo.moments_from_formula("income ~ education * age", weight=2, floor=0.01)),
    ),
    (
        {"all_pairs": ["age", "sex", "income"], "level": 2},
        list(bo.all_pairs(["age", "sex", "income"], level=2)),
    ),
    ({"pairs_with": "age", "ceiling": 0.5}, list(bo.pairs_with("age", NAMES, ceiling=0.5))),
    ({"pairs_with": "age", "names": ["sex"], "target": 2}, [bo.CrossMoment("age", "sex", target=2)]),
    (
        {"formula": "income ~ .", "variance": 3},
        list(bo.moments_from_formula("income ~ .", names=NAMES, variance=3)),
    ),
]


@pytest.mark.parametrize(("rule", "moments"), RULES)
def test_a_rule_is_the_moments_that_the_python_function_gives(
    rule: dict[str, Any], moments: list[bo.CrossMoment], tmp_path: Path
) -> None:
    written = tmp_path / "problem.json"
    written.write_text(json.dumps(document(rule)))
    (tmp_path / "problem.yaml").write_text(yaml.safe_dump(document(rule)))
    python = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in NAMES], moment_rules=[rule], total_epsilon=3
    )
    plain = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in NAMES], moments=moments, total_epsilon=3
    )
    for problem in (bo.Problem.read(written), bo.Problem.read(tmp_path / "problem.yaml"), python):
        assert problem == plain
        assert problem.sha256 == plain.sha256
        assert problem.to_dict() == plain.to_dict()
        assert "moment_rules" not in problem.to_dict()


@given(st.lists(st.sampled_from([rule for rule, _ in RULES[:2] + RULES[3:]]), min_size=1, max_size=3))
@settings(max_examples=20)
def test_an_expanded_problem_is_not_expanded_again(rules: list[dict[str, Any]]) -> None:
    problem = bo.Problem.from_dict(document(*rules))
    assert problem.moment_rules == ()
    assert problem.with_fields() == problem
    assert problem.with_total(4).moments == problem.moments
    assert bo.Problem.from_dict(problem.to_dict()) == problem
    more = problem.with_fields(moment_rules=[{"all_pairs": ["income", "sex"]}])
    assert len({frozenset(moment.attributes) for moment in more.moments}) == len(more.moments)
    assert sum(moment.weight for moment in more.moments) == 1 + sum(m.weight for m in problem.moments)


def test_a_moment_of_several_rules_and_of_the_list_is_merged_as_duplicates_are() -> None:
    problem = bo.Problem.from_dict(
        document(
            {"all_pairs": ["sex", "income"], "weight": 2, "floor": 0.01},
            {"formula": "income ~ sex", "weight": 3, "floor": 0.02},
            moments=[{"attributes": ["income", "sex"], "weight": 5}],
        )
    )
    assert problem.moments == (bo.CrossMoment("income", "sex", weight=10, floor=0.02),)


FAULTS: list[tuple[Any, str, str]] = [
    (5, "moment_rules[0]", "an object"),
    ({}, "moment_rules[0].formula, all_pairs, pairs_with", "exactly one"),
    (
        {"formula": "income ~ age", "all_pairs": ["age", "sex"]},
        "moment_rules[0].formula, all_pairs, pairs_with",
        "exactly one",
    ),
    ({"formula": None}, "moment_rules[0].formula, all_pairs, pairs_with", "exactly one"),
    ({"formula": "income ~ agee"}, "moment_rules[0].formula", "not an attribute"),
    ({"formula": "income ~ +"}, "moment_rules[0].formula", "cannot be read"),
    ({"formula": 3}, "moment_rules[0].formula", "string"),
    ({"formula": "income ~ age", "weight": -1}, "moment_rules[0].weight", "0 or a number"),
    ({"formula": "income ~ age", "floor": 0.5, "ceiling": 0.1}, "moment_rules[0].ceiling", "floor 0.5"),
    ({"formula": "income ~ age", "names": ["age"]}, "moment_rules[0].names", "belongs to"),
    ({"formula": "income ~ age", "wieght": 2}, "moment_rules[0].wieght", "not a field"),
    ({"all_pairs": "income"}, "moment_rules[0].all_pairs", "list"),
    ({"all_pairs": ["income"]}, "moment_rules[0].all_pairs", "at least two"),
    ({"all_pairs": ["income", "income"]}, "moment_rules[0].all_pairs", "distinct"),
    ({"all_pairs": ["income", "aeg"]}, "moment_rules[0].all_pairs", "not an attribute"),
    ({"pairs_with": "aeg"}, "moment_rules[0].pairs_with", "not an attribute"),
    ({"pairs_with": "age", "names": ["sxe"]}, "moment_rules[0].names", "not an attribute"),
    ({"pairs_with": "age", "names": ["age"]}, "moment_rules[0].names", "beside 'age'"),
]


@pytest.mark.parametrize(("rule", "where", "limit"), FAULTS, ids=[str(rule) for rule, *_ in FAULTS])
def test_a_faulty_rule_is_told_once_with_its_path(rule: Any, where: str, limit: str) -> None:
    good = {"all_pairs": ["age", "sex"]}
    for rules, i in (([rule], 0), ([good, rule, good], 1), ([5, rule], 1)):
        with pytest.raises(ProblemError) as caught:
            bo.Problem.from_dict(document(*rules))
        told = [fault for fault in caught.value.faults if fault.where == where.replace("[0]", f"[{i}]")]
        assert len(told) == 1, caught.value.faults
        assert limit in told[0].limit
        others = {fault.where for fault in caught.value.faults} - {told[0].where}
        assert others <= {"moment_rules[0]", f"moment_rules[{i}].formula, all_pairs, pairs_with"}, others


@pytest.mark.parametrize("value", [5, "formula", {"formula": "income ~ age"}])
def test_rules_that_are_no_list_are_refused(value: Any) -> None:
    with pytest.raises(ProblemError) as caught:
        bo.Problem.from_dict(document() | {"moment_rules": value})
    assert [fault.where for fault in caught.value.faults] == ["moment_rules"]


def test_a_problem_without_a_moment_is_a_fault_of_the_moments_only_where_its_rules_are_right() -> None:
    with pytest.raises(ProblemError) as caught:
        bo.Problem.from_dict(document())
    assert [fault.where for fault in caught.value.faults] == ["moments"]


def test_where_each_moment_comes_from_is_told() -> None:
    """Issue 4, item 1: expanded by `check`, each explained."""
    file = document(
        {"formula": "income ~ age"},
        {"pairs_with": "sex", "names": ["age"]},
        moments=[{"attributes": ["income", "age"]}],
    )
    origins = origins_of(file, NAMES)
    assert [(one.attributes, one.source, one.rule, one.why) for one in origins] == [
        (("income", "age"), "moments[0]", "", ""),
        (("income", "age"), "moment_rules[0]", "income ~ age", "slope of age"),
        (("sex", "age"), "moment_rules[1]", "pairs with sex", "pair with sex"),
    ]


def test_a_rule_can_be_given_as_the_object_that_it_is() -> None:
    rule = MomentRule(all_pairs=["income", "sex"], weight=2)
    assert bo.Problem.from_dict(document(rule)) == bo.Problem.from_dict(document(rule.to_dict()))
