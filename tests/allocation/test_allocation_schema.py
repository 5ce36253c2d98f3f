"""The JSON Schema of an allocation file (DESIGN 3.2)."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings

from budget_opt.allocation import uniform
from budget_opt.allocation.schema import allocation_schema
from budget_opt.errors import AllocationError
from budget_opt.model.problem import Problem
from tests.allocation.sample_allocation import OBJECTS, WHOLE, Path_, changed, dotted, read
from tests.strategies import problems


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    schema = allocation_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@given(problems())
@settings(max_examples=10)
def test_the_schema_admits_every_allocation(problem: Problem) -> None:
    document = json.loads(json.dumps(uniform(problem).to_dict()))
    assert [error.message for error in validator().iter_errors(document)] == []


def test_every_field_of_the_schema_says_what_it_means() -> None:
    fields = allocation_schema()["properties"]
    listed = [fields[name]["items"] for name in ("attributes", "moments", "clusters", "groups", "public")]
    sampler = listed[0]["properties"]["sampler"]["anyOf"][0]
    single = [fields[name] for name in ("privacy", "objective", "provenance", "survey")]
    for part in (*listed, *single, sampler, allocation_schema()):
        assert all(stated["description"] for stated in part["properties"].values())


def test_the_schema_has_every_field_of_the_design_and_no_other() -> None:
    """DESIGN 3.2 and the fields of the declaration that an analyst needs."""
    schema = allocation_schema()
    assert set(schema["properties"]) == set(WHOLE)
    fields = schema["properties"]
    assert set(fields["objective"]["properties"]) == set(WHOLE["objective"])
    assert set(fields["privacy"]["properties"]) == set(WHOLE["privacy"])
    assert set(fields["moments"]["items"]["properties"]) == {*WHOLE["moments"][1], "retention_of", "detail"}
    declared = {"bins", "scores", "ordered", "marginal", "missing", "missing_score", "other", "grouping"}
    sourced = {"source", "distortion", "effect"}
    found = set(fields["attributes"]["items"]["properties"])
    assert found == {*WHOLE["attributes"][0], *declared, *sourced, "cluster"}


@pytest.mark.parametrize("path", [(), *OBJECTS[1:]], ids=lambda path: dotted(path) or "file")
def test_the_schema_refuses_fields_of_another_format(path: Path_) -> None:
    if path != ("sensitivity",):
        assert list(validator().iter_errors(changed((*path, "extra"), 1)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "budget-opt/problem"),
        (("version",), 2),
        (("problem_sha256",), "abc"),
        (("created",), "yesterday"),
        (("objective", "status"), "perfect"),
        (("objective", "gap_tolerance"), -1),
        (("attributes", 0, "sampler", "bits"), 33),
        (("attributes", 0, "sampler", "q"), 1019874466),
        (("attributes", 0, "sampler", "q"), "0"),
        (("attributes", 0, "epsilon"), -1),
        (("moments", 0, "floor"), 0),
        (("total_epsilon",), 0),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(path: Path_, value: object, tmp_path: Path) -> None:
    assert list(validator().iter_errors(changed(path, value)))
    with pytest.raises(AllocationError):
        read(changed(path, value), tmp_path)
