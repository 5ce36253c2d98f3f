"""The JSON Schema of a problem file admits what the reader admits, and refuses what one field can show."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings

from budget_opt.errors import ProblemError
from budget_opt.model.descriptions import PROBLEM
from budget_opt.model.problem import Problem
from budget_opt.model.schema import problem_schema
from tests.model.defaults import ATTRIBUTE_DEFAULTS, DEFAULTS, MOMENT_DEFAULTS
from tests.strategies import Document, documents


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    schema = problem_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_field_of_the_schema_says_what_it_means() -> None:
    schema = problem_schema()
    parts = {"Problem": schema, **schema["$defs"]}
    for name, part in parts.items():
        for field, stated in part["properties"].items():
            assert stated["description"].endswith("."), (name, field)
    # and nothing is told of a field that is not there
    told = {name: set(texts) for name, texts in PROBLEM.items() if name in parts}
    told["Attribute"] |= set(PROBLEM["Declared"])
    assert told == {name: set(part["properties"]) for name, part in parts.items()}


@given(documents())
@settings(max_examples=15)
def test_the_schema_admits_every_valid_problem(document: Document) -> None:
    check = validator()
    for one in (document, Problem.from_dict(document).to_dict()):
        assert [error.message for error in check.iter_errors(one)] == []


def test_the_schema_admits_every_problem_of_the_library(root: Path) -> None:
    paths = [path for path in sorted((root / "problems").glob("*.json")) if path.name != "catalogue.json"]
    assert paths
    for path in paths:
        document = json.loads(path.read_text("utf-8"))
        assert [error.message for error in validator().iter_errors(document)] == [], path.name


def test_the_schema_admits_moment_rules() -> None:
    rules = [{"formula": "a ~ 1", "weight": 2, "floor": 0.1}, {"all_pairs": ["a", "b"]}, {"pairs_with": "a"}]
    rules.append({"pairs_with": "a", "names": ["b"], "formula": None})
    assert [error.message for error in validator().iter_errors(SMALL | {"moment_rules": rules})] == []


def test_the_schema_has_every_field_of_the_design() -> None:
    """DESIGN 3.1: all of version 1 is named from the start."""
    schema = problem_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(schema["properties"]) == {
        "format",
        "version",
        "total_epsilon",
        "attributes",
        "moments",
        *DEFAULTS,
    }
    parts = schema["$defs"]
    assert set(parts["Attribute"]["properties"]) == {"name", *ATTRIBUTE_DEFAULTS}
    assert set(parts["CrossMoment"]["properties"]) == {"attributes", *MOMENT_DEFAULTS}
    assert set(parts["Group"]["properties"]) == {"name", "attributes", "epsilon_max"}
    assert set(parts["PublicColumn"]["properties"]) == {"name", "why"}
    assert set(parts["Unit"]["properties"]) == {"of", "id", "max_rows"}
    assert set(parts["MomentRule"]["properties"]) == RULE_FIELDS | set(MOMENT_DEFAULTS)
    origins = {"weights", "floors", "domains", "scores", "marginals", "clusters", "total"}
    assert set(parts["Provenance"]["properties"]) == origins
    assert schema["additionalProperties"] is False
    assert all(part["additionalProperties"] is False for part in parts.values())


RULE_FIELDS = {"formula", "all_pairs", "pairs_with", "names"}
SMALL: Document = {
    "format": "budget-opt/problem",
    "version": 1,
    "total_epsilon": 1.0,
    "attributes": [{"name": "a", "categories": 2}],
    "moments": [{"attributes": ["a"]}],
}


@pytest.mark.parametrize(
    "faulty",
    [
        {key: value for key, value in SMALL.items() if key != "format"},
        {key: value for key, value in SMALL.items() if key != "version"},
        {key: value for key, value in SMALL.items() if key != "attributes"},
        SMALL | {"format": "budget-opt/allocation"},
        SMALL | {"version": 2},
        SMALL | {"unknown": 1},
        SMALL | {"total_epsilon": 0},
        SMALL | {"total_epsilon": "1"},
        SMALL | {"total_epsilon": 20_000},
        SMALL | {"objective": "best"},
        SMALL | {"row_order": "sorted"},
        SMALL | {"provenance": {"weights": "secret"}},
        SMALL | {"provenance": {"weight": "public"}},
        SMALL | {"attributes": []},
        SMALL | {"attributes": [{"name": "a"}]},
        SMALL | {"attributes": [{"name": "a", "categories": None, "bins": None}]},
        SMALL | {"attributes": [{"name": "a", "categories": 2, "bins": [1, 2, 3]}]},
        SMALL | {"attributes": [{"name": "a", "categories": 1}]},
        SMALL | {"attributes": [{"name": "a", "categories": ["x"]}]},
        SMALL | {"attributes": [{"name": "a", "categories": ["x", "x"]}]},
        SMALL | {"attributes": [{"name": "", "categories": 2}]},
        SMALL | {"attributes": [{"name": "a", "bins": [1, 2]}]},
        SMALL | {"attributes": [{"name": "a", "categories": 2, "epsilon": -1}]},
        SMALL | {"attributes": [{"name": "a", "categories": 2, "colour": 1}]},
        SMALL | {"moments": [{"attributes": []}]},
        SMALL | {"moments": [{"attributes": ["a", "a"]}]},
        SMALL | {"moments": [{"attributes": ["a"], "weight": -1}]},
        SMALL | {"moments": [{"attributes": ["a"], "floor": 0}]},
        SMALL | {"moments": [{"attributes": ["a"], "ceiling": 1}]},
        SMALL | {"moments": [{"attributes": ["a"], "level": 0}]},
        SMALL | {"moments": [{"attributes": ["a"], "level": 101}]},
        SMALL | {"moments": [{"attributes": ["a"], "level": 1.5}]},
        SMALL | {"moment_rules": [{}]},
        SMALL | {"moment_rules": [{"formula": None}]},
        SMALL | {"moment_rules": [{"formula": "a ~ 1", "all_pairs": ["a", "b"]}]},
        SMALL | {"moment_rules": [{"formula": "a ~ 1", "names": ["a"]}]},
        SMALL | {"moment_rules": [{"formula": "a ~ 1", "floor": 2}]},
        SMALL | {"moment_rules": [{"pattern": "*"}]},
        SMALL | {"moment_rules": {"formula": "a ~ 1"}},
        SMALL | {"groups": [{"name": "g", "attributes": ["a"]}]},
        SMALL | {"public": [{"name": "c"}]},
        SMALL | {"unit": {"of": "household"}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(faulty: Document, tmp_path: Path) -> None:
    assert list(validator().iter_errors(faulty))
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(faulty))
    with pytest.raises(ProblemError):
        Problem.read(path)
