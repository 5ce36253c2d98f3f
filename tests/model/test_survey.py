"""The design of a sample: the weights are a public column, strata and sampling units come later."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import budget_opt as bo
from budget_opt.errors import InputError, ProblemError
from budget_opt.model.schema import problem_schema
from tests.model.sample_problem import Document, valid


def stated(survey: object) -> Document:
    document = valid()
    document["public"].append({"name": "weight", "why": "made from the sampling frame alone"})
    return {**document, "survey": survey}


def test_weights_are_a_public_column_and_go_with_problem_and_allocation(tmp_path: Path) -> None:
    problem = bo.Problem.from_dict(stated({"weight": "weight"}))
    assert problem.to_dict()["survey"] == {"weight": "weight"}
    problem.write(tmp_path / "problem.json")
    assert bo.Problem.read(tmp_path / "problem.json") == problem
    allocation = bo.uniform(problem)
    allocation.write(tmp_path / "allocation.json")
    read = bo.Allocation.read(tmp_path / "allocation.json")
    assert read.survey_weight == allocation.survey_weight == "weight"
    assert bo.verify(read, problem=problem).failed == bo.verify(allocation, problem=problem).failed


def test_without_a_survey_nothing_is_written_and_old_files_are_read(tmp_path: Path) -> None:
    problem = bo.Problem.from_dict(valid())
    assert "survey" not in problem.to_dict()
    allocation = bo.uniform(problem)
    assert allocation.survey_weight is None
    assert "survey" not in allocation.to_dict()
    allocation.write(tmp_path / "allocation.json")
    assert bo.Allocation.read(tmp_path / "allocation.json").question.survey is None


@pytest.mark.parametrize(
    ("survey", "where", "said"),
    [
        ({"weight": "share"}, "survey.weight", "must be listed under public"),
        ({"weight": "smoker"}, "survey.weight", "must be listed under public"),
        ({"weight": "person_id"}, "survey.weight", "must be listed under public"),
        ({"weight": 3}, "survey.weight", "must be text"),
        ({}, "survey.weight", "is required"),
        ({"weight": "weight", "strata": "stratum"}, "survey.strata", "not supported yet"),
        ({"psu": "village"}, "survey.psu", "not supported yet"),
        ({"weight": "weight", "cluster": "village"}, "survey.cluster", "is not a field of this format"),
        (["weight"], "survey", "must be a valid dictionary"),
    ],
)
def test_what_is_no_survey_is_refused_by_name(survey: object, where: str, said: str) -> None:
    with pytest.raises(ProblemError) as caught:
        bo.Problem.from_dict(stated(survey))
    (fault,) = caught.value.faults
    assert fault.where == where
    assert said in fault.limit


def test_an_allocation_whose_weight_is_not_public_is_refused(tmp_path: Path) -> None:
    document = bo.uniform(bo.Problem.from_dict(stated({"weight": "weight"}))).to_dict()
    document["public"] = document["public"][:1]
    (tmp_path / "allocation.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(InputError, match=r"survey\.weight: is 'weight', must be listed under public"):
        bo.Allocation.read(tmp_path / "allocation.json")


def test_another_weight_than_the_problem_states_is_found_by_verification() -> None:
    stating = bo.Problem.from_dict(stated({"weight": "weight"}))
    other = bo.uniform(bo.Problem.from_dict(stated({"weight": "wave"})))
    failed = {check.name for check in bo.verify(other, problem=stating).failed}
    assert {"problem hash", "question"} <= failed


@pytest.mark.parametrize(
    ("survey", "fits"),
    [({"weight": "weight"}, True), (None, True), ({"weight": 3}, False), ({"weights": "weight"}, False)],
)
def test_the_schema_knows_the_survey(survey: object, fits: bool) -> None:
    validator = jsonschema.Draft202012Validator(problem_schema())
    assert (not list(validator.iter_errors(stated(survey)))) == fits
