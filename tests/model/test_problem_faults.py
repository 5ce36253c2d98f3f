"""Every fault of a problem is told with its path, its value, the limit and the way out, all at once.

Issue 2, item 4; R13 and R14 of RELIABILITY. The same faults come from JSON, from YAML and from Python.
"""

from __future__ import annotations

import copy
import json
import math
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from budget_opt.errors import MISSING, Fault, ProblemError
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, Group, Provenance, PublicColumn, Unit
from budget_opt.model.problem import Problem
from tests.model.sample_problem import BIG, Document, changed, valid

Reader = Callable[[Document, Path], Problem]


def from_json(document: Document, folder: Path) -> Problem:
    path = folder / "problem.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Problem.read(path)


def from_yaml(document: Document, folder: Path) -> Problem:
    path = folder / "problem.yaml"
    path.write_text(yaml.safe_dump(document, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return Problem.read(path)


def from_python(document: Document, folder: Path) -> Problem:
    return Problem(**copy.deepcopy(document))


READERS = [
    pytest.param(from_json, id="json"),
    pytest.param(from_yaml, id="yaml"),
    pytest.param(from_python, id="python"),
]


def faults_of(document: Document, read: Reader, folder: Path) -> tuple[Fault, ...]:
    with pytest.raises(ProblemError) as caught:
        read(document, folder)
    assert caught.value.exit_code == 2
    for fault in caught.value.faults:
        assert str(fault) in str(caught.value)
        assert fault.where
        assert fault.limit
        assert fault.remedy
    return caught.value.faults


def test_the_document_that_the_faults_are_put_into_has_none(tmp_path: Path) -> None:
    problems = [read(valid(), tmp_path) for read in (from_json, from_yaml, from_python)]
    assert problems[0] == problems[1] == problems[2]


# path in the document, faulty value, where, what the limit says, what the remedy says
ONE_FAULT = [
    # unknown and missing fields
    ("totl_epsilon", 3, "totl_epsilon", "not a field", '"total_epsilon"'),
    ("attributes.0.epsilon_mx", 1.5, "attributes[0].epsilon_mx", "not a field", '"epsilon_max"'),
    ("moments.0.wieght", 2, "moments[0].wieght", "not a field", '"weight"'),
    ("groups.0.cap", 2, "groups[0].cap", "not a field", "Remove it"),
    ("provenance", {"weight": "public"}, "provenance.weight", "not a field", '"weights"'),
    ("unit", {"offf": "record"}, "unit.offf", "not a field", '"of"'),
    ("unit", {"of": "household"}, "unit.of", "'record' or 'person'", "Correct"),
    # whose privacy, and how often
    ("unit", {"of": "person"}, "unit.id", "required for a person", "Name the column"),
    ("unit", {"id": "person_id"}, "unit.id", "no meaning for a record", '"of": "person"'),
    ("unit", {"max_rows": 3}, "unit.max_rows", "no meaning for a record", '"of": "person"'),
    ("unit", {"of": "person", "id": "nobody"}, "unit.id", "under dropped, or under public", "dropped"),
    ("unit", {"of": "person", "id": "smoker"}, "unit.id", "under dropped, or under public", "dropped"),
    ("unit", {"of": "person", "id": "person_id", "max_rows": 0}, "unit.max_rows", "1 to 1,000,000", "rows"),
    ("unit", {"of": "person", "id": "person_id", "max_rows": 2.0}, "unit.max_rows", "1 to", "rows"),
    ("unit", {"of": "person", "id": "person_id", "max_rows": True}, "unit.max_rows", "1 to", "rows"),
    ("waves", 0, "waves", "an integer from 1 to 1,000,000", "planned releases"),
    ("waves", 1.5, "waves", "an integer from 1 to 1,000,000", "planned releases"),
    ("waves", True, "waves", "an integer from 1 to 1,000,000", "planned releases"),
    ("self", 3, "self", "not a field", "Remove it"),
    ("attributes.0.self", 3, "attributes[0].self", "not a field", "Remove it"),
    ("total_epsilon", MISSING, "total_epsilon", "required", "nats"),
    ("groups.0.epsilon_max", MISSING, "groups[0].epsilon_max", "required", "Add"),
    ("public.0.why", MISSING, "public[0].why", "required", "Add"),
    # references
    ("moments.0.attributes", ["smokr", "income"], "moments[0].attributes", "not an attribute", '"smoker"'),
    ("moments.3.attributes", ["regio", "income"], "moments[3].attributes", "not an attribute", '"region"'),
    ("moments.0.attributes", ["zzz", "income"], "moments[0].attributes", "not an attribute", "smoker, inc"),
    ("groups.0.attributes", ["smoker", "incom"], "groups[0].attributes", "not an attribute", '"income"'),
    # repetitions
    ("moments.0.attributes", ["age", "income", "age"], "moments[0].attributes", "'age' is repeated", "once"),
    ("groups.0.attributes", ["smoker", "smoker"], "groups[0].attributes", "distinct", "once"),
    ("attributes.3.name", "smoker", "attributes", "listed twice", "Remove"),
    ("dropped", ["person_id", "person_id"], "dropped", "listed twice", "Remove"),
    ("dropped", ["smoker"], "attributes, public, dropped", "only one", "Remove"),
    ("public.0.name", "person_id", "attributes, public, dropped", "only one", "Remove"),
    ("attributes.3.categories", ["a", "b", "a"], "attributes[3].categories", "distinct", "repeated"),
    ("groups.0.name", "total_epsilon", "groups", "total budget", "Rename"),
    # domains
    ("attributes.1.categories", 1, "attributes[1].categories", "from 2 to", "number"),
    ("attributes.1.categories", 1_000_001, "attributes[1].categories", "1,000,000", "number"),
    ("attributes.1.categories", 2.5, "attributes[1].categories", "list of labels", "number"),
    ("attributes.1.categories", True, "attributes[1].categories", "list of labels", "number"),
    ("attributes.1.categories", "north", "attributes[1].categories", "list of labels", "number"),
    ("attributes.3.categories", [], "attributes[3].categories", "from 2 to", "labels"),
    ("attributes.3.categories", ["only"], "attributes[3].categories", "from 2 to", "labels"),
    ("attributes.3.categories", ["a", 1], "attributes[3].categories", "one type", "quotes"),
    ("attributes.3.categories", [True, 1], "attributes[3].categories", "one type", "quotes"),
    ("attributes.3.categories", ["a", ""], "attributes[3].categories", "not empty", "missing"),
    ("attributes.3.categories", ["a", None], "attributes[3].categories", "text, an integer", "text"),
    ("attributes.3.categories", [1.5, 2.5], "attributes[3].categories", "text, an integer", "bins"),
    ("attributes.3.categories", [0, 2**53], "attributes[3].categories", "below 2^53", "text"),
    ("attributes.3.categories", MISSING, "attributes[3].categories, bins", "exactly one", "Give one"),
    ("attributes.3.bins", [1, 2, 3], "attributes[3].categories, bins", "exactly one", "Give one"),
    ("attributes.2.bins", [1, 2], "attributes[2].bins", "at least three edges", "increasing"),
    ("attributes.2.bins", [1, 2, 2], "attributes[2].bins", "increasing", "increasing"),
    ("attributes.2.bins", [3, 2, 1], "attributes[2].bins", "increasing", "increasing"),
    ("attributes.2.bins", [1, None, 3], "attributes[2].bins", "two ends", "null"),
    ("attributes.2.bins", [1, 2, "3"], "attributes[2].bins", "numbers", "increasing"),
    ("attributes.2.bins", [1, 2, math.nan], "attributes[2].bins", "finite", "increasing"),
    ("attributes.2.bins", [1, 2, BIG], "attributes[2].bins", "1e100", "increasing"),
    ("attributes.2.bins", [None, 2, 3], "attributes[2].scores", "required where a bin is open", "score"),
    ("attributes.2.other", "x", "attributes[2].other", "no meaning for bins", "null"),
    ("attributes.3.other", "west", "attributes[3].other", "one of the categories", "Add"),
    ("attributes.3.other", 1, "attributes[3].other", "one of the categories", "Add"),
    ("attributes.1.scores", [1, 2, 3], "attributes[1].scores", "5 numbers", "one score"),
    ("attributes.1.scores", [2] * 5, "attributes[1].scores", "differ", "different"),
    ("attributes.1.scores", [1, 2, 3, 4, "5"], "attributes[1].scores[4]", "number", "finite"),
    ("attributes.1.missing", "category", "attributes[1].missing_score", "required", "missing answer"),
    ("attributes.1.missing_score", 2, "attributes[1].missing_score", "category", "remove"),
    ("attributes.1.missing", "skip", "attributes[1].missing", "'error' or 'category'", "Correct"),
    ("attributes.1.marginal", [0.5, 0.5], "attributes[1].marginal", "5 shares", "category"),
    ("attributes.1.marginal", [0.2, 0.2, 0.2, 0.2, 0.1], "attributes[1].marginal", "sum to 1", "0.9"),
    ("attributes.1.marginal", [0, 0, 1, 0, 0], "attributes[1].marginal", "variance", "two categories"),
    ("attributes.1.marginal", [0, 0, 1, 0, -0.5], "attributes[1].marginal[4]", "share", "share"),
    ("attributes.1.name", "", "attributes[1].name", "not blank", "header"),
    ("attributes.1.name", " income", "attributes[1].name", "blanks at its ends", "header"),
    ("attributes.1.name", "in\ncome", "attributes[1].name", "control characters", "header"),
    ("attributes.1.name", 5, "attributes[1].name", "text", "header"),
    ("name", "two\nlines", "name", "control characters", "one line"),
    ("public.0.why", " ", "public[0].why", "not blank", "header"),
    # numbers
    ("moments.0.weight", -1, "moments[0].weight", "0 or a number from 1e-100", ">= 0"),
    ("moments.0.weight", math.nan, "moments[0].weight", "finite", ">= 0"),
    ("moments.0.level", 0, "moments[0].level", "integer from 1 to 100", "what matters most"),
    ("moments.0.level", 101, "moments[0].level", "integer from 1 to 100", "what matters most"),
    ("moments.0.level", True, "moments[0].level", "integer from 1 to 100", "what matters most"),
    ("moments.0.level", 1.5, "moments[0].level", "integer from 1 to 100", "what matters most"),
    ("moments.0.weight", math.inf, "moments[0].weight", "finite", ">= 0"),
    ("moments.0.floor", 0, "moments[0].floor", "above 0", "such as 0.3"),
    ("moments.0.floor", 1, "moments[0].floor", "below 1", "such as 0.3"),
    ("moments.0.floor", -0.1, "moments[0].floor", "above 0", "such as 0.3"),
    ("moments.0.ceiling", 1.5, "moments[0].ceiling", "below 1", "such as 0.3"),
    ("moments.0.ceiling", 0.001, "moments[0].ceiling", "at least the floor 0.01", "Change"),
    ("moments.0.target", 0, "moments[0].target", "1e-100", "positive"),
    ("moments.0.variance", -2, "moments[0].variance", "1e-100", "positive"),
    ("attributes.0.epsilon", 0.1, "attributes[0].epsilon", "at least epsilon_min 0.2", "Change"),
    ("attributes.0.epsilon", 2.0, "attributes[0].epsilon", "at most epsilon_max 1.5", "Change"),
    ("attributes.0.epsilon_min", 1.6, "attributes[0].epsilon_max", "at least epsilon_min 1.6", "Raise"),
    ("attributes.0.epsilon_max", -1, "attributes[0].epsilon_max", "1e-300 to 10000", "nats"),
    ("total_epsilon", 0, "total_epsilon", "1e-300 to 10000", "for instance"),
    ("total_epsilon", -1, "total_epsilon", "1e-300 to 10000", "for instance"),
    ("total_epsilon", math.nan, "total_epsilon", "finite", "for instance"),
    ("total_epsilon", math.inf, "total_epsilon", "finite", "for instance"),
    ("total_epsilon", "3", "total_epsilon", "a number of nats", "for instance"),
    ("total_epsilon", True, "total_epsilon", "a number of nats", "for instance"),
    ("total_epsilon", 10_001, "total_epsilon", "10000", "for instance"),
    # pins and minima against budgets
    ("total_epsilon", 0.6, "total_epsilon", "smoker, income need 0.7", "Raise"),
    ("groups.0.epsilon_max", 0.69, 'groups["health"].epsilon_max', "smoker, income need 0.7", "Raise"),
    # choices
    ("objective", "weightedsum", "objective", "'weighted_sum'", "Correct"),
    ("row_order", "sorted", "row_order", "'shuffle' or 'public'", "Correct"),
    ("provenance", {"weights": "secret"}, "provenance.weights", '"private data, epsilon E"', "chosen"),
    ("provenance", {"total": "private data, epsilon ²"}, "provenance.total", "epsilon E", "chosen"),
    # shapes
    ("attributes.1", "income", "attributes[1]", "an object", "fields"),
    ("moments.3", ["smoker", "region"], "moments[3]", "an object", "fields"),
    ("groups", {"name": "g"}, "groups", "list", "Correct"),
    ("unit", 3, "unit", "Unit", "Correct"),
    ("moments.3.attributes", [], "moments[3].attributes", "at least one", "Name"),
    ("moments.3.attributes", "smoker", "moments[3].attributes", "list", "Correct"),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("path", "value", "where", "limit", "remedy"),
    ONE_FAULT,
    ids=[f"{path}={value!r}"[:60] for path, value, *_ in ONE_FAULT],
)
def test_a_fault_is_told_once_with_path_value_limit_and_way_out(
    path: str, value: object, where: str, limit: str, remedy: str, read: Reader, tmp_path: Path
) -> None:
    faults = faults_of(changed(path, value), read, tmp_path)
    told = [fault for fault in faults if fault.where == where]
    assert len(told) == 1, faults
    assert limit in told[0].limit
    assert remedy in told[0].remedy
    # a name that is gone makes what refers to it faulty too
    assert len(faults) == 1 or path.endswith(".name") or path == "attributes.1", faults
    simple = isinstance(value, str | int | float) and not isinstance(value, bool)
    if simple and where.replace("[", ".").replace("]", "") == path and read is not from_yaml:
        assert told[0].value == value or math.isnan(value)
        assert repr(value)[:70] in str(told[0])


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 1000),
    ],
)
def test_a_field_of_a_later_version_is_refused_by_its_name(
    field: str, value: object, read: Reader, tmp_path: Path
) -> None:
    faults = faults_of(changed(field, value), read, tmp_path)
    parts = (f"[{part}]" if part.isdigit() else f".{part}" for part in field.split("."))
    assert [fault.where for fault in faults] == ["".join(parts).lstrip(".")]
    assert faults[0].limit == "not supported yet"
    assert "not supported yet. Remove the field, and give the number of records" in str(faults[0])


@pytest.mark.parametrize("read", READERS)
def test_a_field_of_a_later_version_is_accepted_where_it_asks_for_nothing(
    read: Reader, tmp_path: Path
) -> None:
    idle = valid() | {
        "total_delta": 0,
        "waves": 1,
        "n": None,
        "clusters": [],
        "max_cells": None,
        "moment_rules": [],
        "survey": None,
        "unit": {"of": "record", "id": None, "max_rows": 1},
    }
    idle["attributes"][1] |= {"background": "uniform", "distortion_max": None, "groupings": None}
    idle["moments"][0] |= {"level": 1}
    problem = read(idle, tmp_path)
    assert problem == Problem(**valid())
    assert problem.sha256 == Problem(**valid()).sha256


@pytest.mark.parametrize("read", READERS)
def test_all_faults_of_a_document_are_told_in_one_error(read: Reader, tmp_path: Path) -> None:
    document = valid()
    document["objctive"] = "max_min"
    document["total_epsilon"] = -3
    document["attributes"][0] |= {"categories": ["yes"], "epsilon": 9, "epsilon_max": "much", "colour": 1}
    document["attributes"][2] |= {"bins": [3, 2, 1], "scores": [1, 2]}
    document["moments"][0] |= {"weight": -1, "floor": 2, "attributes": ["smoker", "incme"]}
    document["moments"][3] |= {"ceiling": 0.1, "floor": 0.2}
    document["groups"][0] |= {"epsilon_max": 0.4}
    document["public"][0] |= {"name": "age"}
    document["waves"] = 3.5
    wanted = {
        "objctive",
        "total_epsilon",
        "attributes[0].categories",
        "attributes[0].epsilon_max",
        "attributes[0].colour",
        "attributes[2].bins",
        "moments[0].weight",
        "moments[0].floor",
        "moments[0].attributes",
        "moments[3].ceiling",
        'groups["health"].epsilon_max',
        "attributes, public, dropped",
        "waves",
    }
    faults = faults_of(document, read, tmp_path)
    assert {fault.where for fault in faults} == wanted
    assert len(faults) == len(wanted)


def test_a_fault_of_a_part_is_told_by_its_constructor_with_a_path_inside_the_part() -> None:
    for build, where in (
        (lambda: Attribute("a", categories=1), "categories"),
        (lambda: Attribute("a", categories=3, epsilon=-1), "epsilon"),
        (lambda: Attribute("a", categories=3, colour=1), "colour"),
        (lambda: CrossMoment("a", "a"), "attributes"),
        (lambda: CrossMoment("a", weight=math.nan), "weight"),
        (lambda: Group("g", attributes=["a", "a"], epsilon_max=1), "attributes"),
        (lambda: PublicColumn("c", why=""), "why"),
        (lambda: Unit(of="household"), "of"),
        (lambda: Provenance(weights="secret"), "weights"),
    ):
        with pytest.raises(ProblemError) as caught:
            build()
        assert [fault.where for fault in caught.value.faults] == [where]


def test_a_merged_duplicate_that_contradicts_itself_is_a_fault() -> None:
    document = changed("moments.1.floor", 0.4)
    document["moments"][2]["ceiling"] = 0.2
    with pytest.raises(ProblemError) as caught:
        Problem(**document)
    assert "age x income" in caught.value.faults[0].where
    assert "at least the floor 0.4" in caught.value.faults[0].limit


def test_an_objective_without_anything_to_optimize_is_a_fault() -> None:
    for objective in ("weighted_sum", "geometric_mean", "max_min", "min_variance"):
        document = valid() | {"objective": objective}
        for moment in document["moments"]:
            moment["weight"] = 0
        with pytest.raises(ProblemError, match="weight above 0"):
            Problem(**document)
    document = changed("moments.0.floor", None) | {"objective": "min_epsilon"}
    with pytest.raises(ProblemError, match="at least one floor"):
        Problem(**document)


def test_only_min_epsilon_may_leave_the_total_out() -> None:
    document = changed("total_epsilon", MISSING)
    assert Problem(**document | {"objective": "min_epsilon"}).total_epsilon is None


def test_a_table_without_attributes_is_a_fault() -> None:
    with pytest.raises(ProblemError, match="at least one attribute"):
        Problem(attributes=[], moments=[], total_epsilon=1.0)
    with pytest.raises(ProblemError, match="attributes: is missing, is required"):
        Problem(total_epsilon=1.0)


@pytest.mark.parametrize("field", ["clusters", "total_epsilon", "moments", "groups", "name", "unit"])
@pytest.mark.parametrize("wrap", [lambda inside: [inside], lambda inside: {"a": inside}])
def test_a_value_nested_deeper_than_python_can_print_is_a_fault_like_any_other(
    field: str, wrap: Callable[[Any], Any]
) -> None:
    value: Any = "x"
    for _ in range(3000):
        value = wrap(value)
    with pytest.raises(ProblemError, match=field):
        Problem(**{**valid(), field: value})


def test_a_value_in_a_message_is_cut_reads_as_in_a_file_and_is_not_read_beyond_what_is_shown() -> None:
    assert str(Fault("a", ("x", (1, None)), "must be", "Do.")) == "a: is ['x', [1, None]], must be. Do."
    assert str(Fault("a", {"b": ("c",)}, "must be", "Do.")) == "a: is {'b': ['c']}, must be. Do."
    itself: list[Any] = []
    itself.append(itself)
    for long in ([1] * 10**6, "a" * 10**6, {i: i for i in range(1000)}, itself):
        assert len(str(Fault("a", long, "must be", "Do."))) <= len("a: is , must be. Do.") + 80
    odd: deque[Any] = deque()
    for _ in range(3000):
        odd = deque([odd])
    assert str(Fault("a", odd, "must be", "Do.")) == "a: is a deque, must be. Do."
