"""The allocation file: what can be recomputed is, on load, and what differs is named (DESIGN 3.2)."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from budget_opt.allocation import Allocation, Statement, allocate, uniform
from budget_opt.errors import AllocationError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.problem import Problem
from budget_opt.verifier import static
from budget_opt.verifier.static import verify_allocation
from tests.allocation.sample_allocation import (
    LEAVES,
    OBJECTS,
    ONE_OF_EACH,
    PROBLEM,
    WHOLE,
    Path_,
    at,
    changed,
    dotted,
    field,
    read,
    solved,
)
from tests.strategies import problems

# what nothing else in the file or in the problem can contradict
FREE = {
    "created",
    "software",
    "objective.solver",
    "objective.seconds",
    "objective.gap_tolerance",
    "objective.certificate_sha256",
    "attributes.*.shadow_price",
    "moments.*.floor_price",
    "moments.*.ceiling_price",
    "sensitivity.total_epsilon",
}
# what the file declares, and only the problem can contradict; every other field contradicts the file itself
DECLARED = {
    "name",
    "problem_sha256",
    "total_epsilon",
    "row_order",
    "dropped.*",
    "provenance.weights",
    "provenance.total",
    "groups.*.name",
    "groups.*.attributes.*",
    "groups.*.epsilon_max",
    "public.*.name",
    "public.*.why",
    "attributes.*.name",
    "attributes.*.categories.*",
    "attributes.*.bins.*",
    "attributes.*.scores.*",
    "attributes.*.other",
    "attributes.*.missing_score",
    "moments.*.floor",
    "moments.*.ceiling",
    "moments.*.target",
    "moments.*.variance",
}


def test_the_file_of_the_tests_is_read_as_it_was_written(tmp_path: Path) -> None:
    allocation = read(WHOLE, tmp_path)
    assert allocation.to_dict() == solved().to_dict() | {"created": allocation.created}
    assert verify_allocation(allocation, PROBLEM).holds
    assert is_of_the_problem(allocation)


@given(problems(with_bounds=False))
@settings(max_examples=12)
def test_what_is_written_is_read_as_the_same_allocation(
    tmp_path_factory: pytest.TempPathFactory, problem: Problem
) -> None:
    path = tmp_path_factory.mktemp("round") / "allocation.json"
    allocation = uniform(problem)
    allocation.write(path)
    assert Allocation.read(path) == allocation
    document = json.loads(path.read_text("utf-8"))
    assert document == json.loads(json.dumps(allocation.to_dict(), allow_nan=False))


@given(problems())
@settings(max_examples=12)
def test_only_pins_and_bounds_are_not_carried(
    tmp_path_factory: pytest.TempPathFactory, problem: Problem
) -> None:
    path = tmp_path_factory.mktemp("round") / "allocation.json"
    allocation = uniform(problem)
    allocation.write(path)
    again = Allocation.read(path)
    assert again.to_dict() == allocation.to_dict()
    assert again.problem_sha256 == problem.sha256
    assert [one.epsilon for one in again.attributes] == [one.epsilon for one in allocation.attributes]
    assert [one.sampler for one in again.attributes] == [one.sampler for one in allocation.attributes]
    again.write(path)
    assert Allocation.read(path) == again


def is_of_the_problem(allocation: Allocation) -> bool:
    """What `verify` says with the problem at hand, without what takes its time and decides nothing here.

    That is the proof of the bound, and the note on what the losses compose to.
    """
    given = replace(allocation.objective, bound=None, relative_gap=None, status="given")
    with patch.object(static, "summary_line", return_value=""):
        return verify_allocation(replace(allocation, objective=given), PROBLEM).holds


def digits_changed(value: object) -> Iterator[object]:
    """The value with each of its digits changed, one after the other."""
    text = json.dumps(value)
    for digit in re.finditer(r"\d", text):
        other = f"{text[: digit.start()]}{(int(digit.group()) + 1) % 10}{text[digit.end() :]}"
        try:
            number = json.loads(other)
        except ValueError:  # a leading zero
            continue
        if number != value:
            yield number


def agrees(one: object, other: object) -> bool:
    """Doubles of two machines: the same to 1e-12."""
    both = isinstance(one, float) and isinstance(other, float)
    return both and math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.slow
def test_every_changed_digit_is_noticed_on_reading_or_with_the_problem_or_changes_nothing(
    tmp_path: Path,
) -> None:
    """An epsilon that changes by less than its sampler can tell is judged by its exact sum."""
    refused = []
    for path in LEAVES:
        for value in digits_changed(at(path)):
            try:
                allocation = read(changed(path, value), tmp_path)
            except AllocationError as failure:
                refused.append(failure)
                continue
            if field(path) in FREE or agrees(value, at(path)):
                continue
            assert field(path) in DECLARED, (dotted(path), value)
            assert not is_of_the_problem(allocation), (dotted(path), value)
    assert len(refused) > 300
    assert all(failure.faults for failure in refused)


def test_an_epsilon_changed_in_its_last_digit_is_judged_as_it_stands(tmp_path: Path) -> None:
    """Its integers may be the same; the exact sum against the total is the verifier's."""
    path = ("attributes", 0, "epsilon")
    document = changed(path, math.nextafter(at(path), 9))
    with pytest.raises(AllocationError, match=r"spent_epsilon.*must be at least"):
        read(document, tmp_path)
    document["spent_epsilon"] = 3.5
    allocation = read(document, tmp_path)
    spent = sum(attribute.epsilon for attribute in allocation.attributes)
    assert spent == pytest.approx(3.5)
    assert allocation["smoker"].epsilon > at(path)
    assert allocation["smoker"].sampler == solved()["smoker"].sampler


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=dotted)
def test_whatever_stands_in_place_of_a_value_is_refused_with_a_field_or_is_harmless(
    path: Path_, tmp_path: Path
) -> None:
    refused = []
    values = ("x", None, [], {}, [1], -1, 0, 2**60, True, math.nan, 1e308, 5e-324, "9" * 80)
    for value in values:
        document = changed(path, value)
        try:
            allocation = read(document, tmp_path)
        except AllocationError as failure:
            refused.append(failure)
            continue
        if at(path) == value and not isinstance(value, bool):
            continue
        assert field(path) in FREE | DECLARED, (dotted(path), value)
        harmless = field(path) in FREE or (at(path) is None and value is None)
        assert harmless or not is_of_the_problem(allocation), (dotted(path), value)
    faults = [fault for failure in refused for fault in failure.faults]
    assert len(faults) >= len(refused) > 0
    assert all(fault.where and fault.limit and fault.remedy for fault in faults)


# these may be left out: they then say their default, which only the problem can contradict
OPTIONAL = {
    "attributes.*.other",
    "attributes.*.scores",
    "moments.*.target",
    "moments.*.variance",
    "provenance.weights",
    "provenance.total",
    "sensitivity.total_epsilon",
    "survey",
}


@pytest.mark.parametrize("path", [(*path, key) for path in OBJECTS for key in at(path)], ids=dotted)
def test_a_missing_field_is_named(path: Path_, tmp_path: Path) -> None:
    document = copy.deepcopy(WHOLE)
    del at(path[:-1], document)[path[-1]]
    if field(path) in OPTIONAL:
        assert field(path).startswith("sensitivity") or not is_of_the_problem(read(document, tmp_path))
        return
    with pytest.raises(AllocationError) as caught:
        read(document, tmp_path)
    named = {fault.where for fault in caught.value.faults}
    consequences = {
        "attributes.*.categories": "categories, bins",
        "attributes.*.bins": "categories, bins",
        "attributes.*.missing": "missing_score",
        "attributes.*.missing_score": "missing_score",
        "attributes.*.marginal": "variance_basis",
        "privacy.waves": "planned_loss",
    }
    last = consequences.get(field(path), str(path[-1]))
    unnamed = field(path) == "attributes.*.name" and "moments[0].attributes" in named
    assert unnamed or any(where.endswith(last) for where in named), named


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: dotted(path) or "file")
def test_a_field_that_is_not_of_the_format_is_named(path: Path_, tmp_path: Path) -> None:
    if path == ("sensitivity",):
        return  # its keys are names
    with pytest.raises(AllocationError) as caught:
        read(changed((*path, "extra"), 1), tmp_path)
    assert [fault.where for fault in caught.value.faults] == [dotted((*path, "extra"))]


@pytest.mark.parametrize("bound", ["epsilon_min", "epsilon_max", "distortion_max"])
def test_bounds_of_the_problem_have_no_place_in_an_allocation(bound: str, tmp_path: Path) -> None:
    with pytest.raises(AllocationError, match=rf"attributes\[1\]\.{bound}"):
        read(changed(("attributes", 1, bound), 0.5), tmp_path)


def test_all_disagreements_are_told_at_once(tmp_path: Path) -> None:
    document = changed(("attributes", 0, "retention"), 0.9)
    document["spent_epsilon"] = 1.0
    document["attributes"][2]["sampler"]["q"] = "7"
    document["moments"][1]["retention"] = 0.5
    document["privacy"]["loss"] = 0.1
    with pytest.raises(AllocationError) as caught:
        read(document, tmp_path)
    assert {fault.where for fault in caught.value.faults} == {
        "attributes[0].retention",
        "spent_epsilon",
        "attributes[2].sampler.q",
        "moments[1].retention",
        "privacy.loss",
    }
    assert "recomputation gives" in str(caught.value)


def test_integers_that_lose_more_than_epsilon_are_refused(tmp_path: Path) -> None:
    """The most dangerous lie: one count less in q, and every other number made to agree with it."""
    q = int(WHOLE["attributes"][1]["sampler"]["q"]) - 1
    with pytest.raises(AllocationError, match=r"attributes\[1\]\.sampler\.q"):
        read(changed(("attributes", 1, "sampler", "q"), str(q)), tmp_path)


@pytest.mark.parametrize("epsilon", [0.5, 1e-60])
@pytest.mark.parametrize("cardinality", [1, 0, -5, 4, 10**400])
def test_a_number_of_categories_that_is_not_declared_is_refused(
    epsilon: float, cardinality: int, tmp_path: Path
) -> None:
    document = changed(("attributes", 3, "cardinality"), cardinality)
    document["attributes"][3]["epsilon"] = epsilon
    with pytest.raises(AllocationError, match=r"attributes\[3\]\.cardinality"):
        read(document, tmp_path)


@pytest.mark.parametrize("names", [["smoker", "income"], ["income", "smoker"]])
def test_a_moment_that_stands_twice_is_refused(names: list[str], tmp_path: Path) -> None:
    with pytest.raises(AllocationError, match=r"moments\[1\].*is stated already"):
        read(changed(("moments", 1, "attributes"), names), tmp_path)


def test_a_width_may_be_wider_than_needed_but_its_integers_must_follow(tmp_path: Path) -> None:
    with pytest.raises(AllocationError, match=r"attributes\[0\]\.sampler\.q"):
        read(changed(("attributes", 0, "sampler", "bits"), 64), tmp_path)


@pytest.mark.parametrize(
    "text", ['{"format": "budget-opt/problem", "version": 1}', "{}", "[]", "", "{", '{"version": 1}']
)
def test_a_file_of_another_kind_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(AllocationError) as caught:
        Allocation.read(tmp_path / "a.json")
    assert "a.json" in str(caught.value)
    with pytest.raises(AllocationError, match="cannot be read"):
        Allocation.read(tmp_path / "absent.json")


def test_an_allocation_of_every_objective_is_strict_json_even_where_nothing_is_kept() -> None:
    for objective in ("weighted_sum", "geometric_mean", "max_min", "min_variance"):
        problem = PROBLEM.with_fields(
            objective=objective,
            attributes=[one.with_fields(epsilon=0.0, epsilon_max=None) for one in PROBLEM.attributes],
        )
        made = allocate(problem, np.zeros(4), Statement(bound=math.inf))
        text = json.dumps(made.to_dict(), allow_nan=False)
        assert "-0.0" not in text
        assert made.objective.bound is None


def test_a_person_and_planned_waves_multiply_the_loss_of_a_record_exactly(tmp_path: Path) -> None:
    """Three records of a person, two waves: 6 x the loss, rounded up; the budget stays one record's."""
    allocation = read(WHOLE, tmp_path)
    assert (allocation.unit.of, allocation.unit.id, allocation.unit.max_rows) == ("person", "person_id", 3)
    assert allocation.waves == 2
    assert exact(allocation.unit_loss) >= 3 * exact(allocation.loss)
    assert exact(allocation.planned_loss) >= 6 * exact(allocation.loss)
    assert allocation.planned_loss <= 6 * allocation.loss * (1 + 1e-15)
    assert allocation.spent_epsilon <= 3.5
    assert WHOLE["privacy"]["planned_loss"] == allocation.planned_loss


@pytest.mark.parametrize("fields", [{}, {"waves": 4}, {"unit": {"of": "person", "id": "person_id"}}])
def test_an_allocation_states_persons_and_waves_only_where_there_are_some(fields: dict[str, Any]) -> None:
    """So the files of earlier versions, which know neither, are read as they are."""
    plain = {"unit": {"of": "record"}, "waves": 1}
    privacy = uniform(PROBLEM.with_fields(**{**plain, **fields})).to_dict()["privacy"]
    extra = {"": set(), "waves": {"waves"}, "unit": {"id", "max_rows"}}[next(iter(fields), "")]
    stated = {"unit", "neighbours", "composition", "loss", *extra, *(["planned_loss"] if extra else [])}
    assert set(privacy) == stated
