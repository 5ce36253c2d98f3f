"""The command line on plans and least totals: the same numbers as in Python, options as people write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.cli.survey import survey_problem


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Allocation:
    monkeypatch.chdir(tmp_path)
    problem = survey_problem()
    problem.write("problem.json")
    allocation = bo.uniform(problem)
    allocation.write("allocation.json")
    return allocation


def test_plan_says_what_python_says(files: bo.Allocation, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--guess", "0.05", "--guess", "mothalc, abuse=0.1", "--error", "abuse,health=0.03"]
    command = ["plan", "allocation.json", "--n", "9822", *options, "--level", "0.99", "--power", "0.9"]
    assert main([*command, "--target", "data", "-o", "plan.csv", "--json"]) == 0
    guess = {moment.label: 0.05 for moment in files.moments} | {"abuse x mothalc": 0.1}
    expected = bo.plan(
        files,
        9822,
        guess,
        0.99,
        wanted_error={("abuse", "health"): 0.03},
        wanted_power=0.9,
        target="data",
    )
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected.to_dict()))
    lines = Path("plan.csv").read_text().splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("attributes,label,n,retention")
    assert main([*command, "-o", "plan.csv"]) == 0  # its own table is replaced
    said = capsys.readouterr().out
    assert "alcohol survey: expected at n = 9,822 and epsilon 8 a record, before any release" in said
    assert "n for 90 % power" in said
    assert said.endswith("written: plan.csv\n")


def test_least_total_says_what_python_says(files: bo.Allocation, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["least-total", "problem.json", "--retention", "0.1", "--error", "abuse,health=0.03"]
    assert main([*command, "--n", "9822", "-o", "allocation.json", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = bo.least_total(
        survey_problem(), retention=0.1, standard_error={"abuse x health": 0.03}, n=9822
    )
    assert said["total_epsilon"] == expected.total_epsilon
    assert bo.Allocation.read("allocation.json").spent_epsilon == expected.total_epsilon
    assert main([*command, "--n", "9822"]) == 0
    assert "no total below" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["plan", "allocation.json", "--n", "100", "--guess", "x"], "--guess x: must be a number, or like"),
        (["plan", "allocation.json", "--n", "100", "--error", "a,b=0.1"], "--error of a x b"),
        (["plan", "allocation.json", "--n", "100", "-o", "problem.json"], "must end in .csv"),
        (["plan", "allocation.json", "--n", "100", "-o", "data.csv"], "exists and is not a plan"),
        (["plan", "allocation.json", "--n", "100", "-o", "no/plan.csv"], "is not a folder"),
        (["plan", "allocation.json"], "--n"),
        (["least-total", "problem.json"], "neither --retention nor --error is given"),
        (["least-total", "problem.json", "--error", "0.001", "--n", "100"], "what sampling alone leaves"),
        (["least-total", "problem.json", "--retention", "0.2", "-o", "data.csv"], "is not an allocation"),
    ],
)
def test_a_bad_option_is_told_and_nothing_is_written(
    files: bo.Allocation, capsys: pytest.CaptureFixture[str], command: list[str], told: str
) -> None:
    Path("data.csv").write_text("region,age\n1,2\n")
    before = sorted(Path().iterdir())
    assert main(command) == 2
    assert told in capsys.readouterr().err
    assert sorted(Path().iterdir()) == before
    assert Path("data.csv").read_text() == "region,age\n1,2\n"


def test_an_impossible_wish_is_exit_code_3(files: bo.Allocation, capsys: pytest.CaptureFixture[str]) -> None:
    problem = survey_problem().with_fields(
        groups=(bo.Group("parents", attributes=["mothalc", "fathalc"], epsilon_max=0.5),)
    )
    problem.write("problem.json")
    assert main(["least-total", "problem.json", "--retention", "0.3"]) == 3
    assert "group parents" in capsys.readouterr().err


def test_options_reach_the_moment_that_their_attributes_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two moments are called a x b x c."""
    monkeypatch.chdir(tmp_path)
    bo.Problem(
        attributes=[bo.Attribute(name, categories=2) for name in ("a x b", "c", "a", "b x c")],
        moments=[bo.CrossMoment("a x b", "c"), bo.CrossMoment("a", "b x c")],
        total_epsilon=6.0,
    ).write("p.json")

    def wanted(*options: str) -> list[float | None]:
        assert main(["least-total", "p.json", *options, "--json"]) == 0
        return [one["wanted_retention"] for one in json.loads(capsys.readouterr().out)["moments"]]

    assert wanted("--retention", "a x b,c=0.3") == [0.3, None]
    assert wanted("--retention", "0.3") == [0.3, 0.3]
    assert wanted("--retention", "b x c,a=0.2", "--retention", "0.3") == [0.3, 0.2]
    for twice in (("0.1", "0.2"), ("a,b x c=0.1", "a, b x c=0.2"), ("a,b x c=0.1", "b x c,a=0.2")):
        assert main(["least-total", "p.json", "--retention", twice[0], "--retention", twice[1]]) == 2
        assert "given already" in capsys.readouterr().err


def test_ways_out_are_said_in_options(files: bo.Allocation, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["least-total", "problem.json", "--error", "0.001", "--n", "1000"]) == 2
    assert "or measure from the table with --target data." in capsys.readouterr().err
    assert main(["plan", "allocation.json", "--n", "1000", "--guess", "1.5"]) == 2
    assert "or the moment itself with --units scores." in capsys.readouterr().err
    assert main(["least-total", "problem.json", "--error", "0.1"]) == 2
    assert "--n: is missing" in capsys.readouterr().err
