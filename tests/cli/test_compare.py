"""The command line on splits side by side, and on the reasons of one."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.api.comparing.comparison import EVEN
from budget_opt.cli import main
from budget_opt.cli.commands_compare import names_of
from tests.api.test_comparing import small

MINE = {"smoker": 1.5, "income": 1.5, "region": 1.0}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A problem, its best split, another problem's, and one by hand."""
    monkeypatch.chdir(tmp_path)
    small().write("problem.json")
    bo.solve(small()).write("best.json")
    bo.solve(small().with_total(6.0)).write("generous.json")
    Path("mine.json").write_text(json.dumps(MINE))
    return tmp_path


def test_files_are_compared_by_their_names_with_the_even_split(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "best.json", "mine.json", "--problem", "problem.json"]
    assert main([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = bo.compare({"best.json": bo.Allocation.read("best.json"), "mine.json": MINE}, small())
    assert said == expected.to_dict()
    assert [split["name"] for split in said["splits"]] == [EVEN, "best.json", "mine.json"]
    assert main([*command, "-o", "table.csv"]) == 0
    printed = capsys.readouterr()
    assert "best.json beats the even split by" in expected.sentences[0]
    assert expected.sentences[0] in " ".join(printed.out.split())
    assert "written: table.csv" in printed.out
    assert printed.err == ""
    with Path("table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["retention mine.json"]) for row in rows] == [
        one.retentions[2] for one in expected.moments
    ]
    assert main([*command, "-o", "table.csv"]) == 0


def test_the_even_split_can_be_left_out_and_another_measured_by(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "best.json", "mine.json", "--problem", "problem.json", "--json"]
    assert main([*command, "--no-even"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert ([split["name"] for split in said["splits"]], said["reference"]) == (
        ["best.json", "mine.json"],
        "best.json",
    )
    assert main([*command, "--reference", "mine.json"]) == 0
    assert json.loads(capsys.readouterr().out)["reference"] == "mine.json"


def test_different_totals_are_the_first_thing_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "best.json", "generous.json"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("CAUTION: the splits spend different totals of epsilon")
    assert "generous.json 6" in said


def test_what_cannot_be_compared_is_refused_with_the_way_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "mine.json"]) == 2
    assert "Say of which problem: --problem PROBLEM" in capsys.readouterr().err
    assert main(["compare", "best.json", "nowhere.json"]) == 2
    assert "nowhere.json" in capsys.readouterr().err
    assert main(["compare", "best.json", "-o", "best.json"]) == 2
    assert "must end in .csv" in capsys.readouterr().err
    Path("other.csv").write_text("a,b\n1,2\n")
    assert main(["compare", "best.json", "-o", "other.csv"]) == 2
    assert "exists and is not a comparison" in capsys.readouterr().err
    assert Path("other.csv").read_text() == "a,b\n1,2\n"
    assert main(["compare", "best.json", "--reference", "x"]) == 2
    assert main(["compare"]) == 2


def test_every_file_has_a_name_of_its_own() -> None:
    paths = [Path(text) for text in ("a/x.json", "b/x.json", "y.json", "y.json", "z.tar.json", "n\n.json")]
    names = names_of(paths)
    assert names == ["a/x.json", "b/x.json", "y.json", "y.json (2)", "z.tar.json", r"'n\n.json'"]


def test_show_explains_where_it_is_asked_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = bo.explain(bo.solve(small()))
    assert main(["show", "best.json"]) == 0
    assert "of the budget goes to" not in capsys.readouterr().out
    assert main(["show", "best.json", "--explain", "--problem", "problem.json"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(sentence in said for sentence in expected.sentences)
    assert "true value reported" in said
    assert main(["show", "best.json", "--explain", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == list(expected.sentences)
    assert main(["show", "best.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "budget-opt/allocation"


def test_solve_gives_the_best_split_on_a_grid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "problem.json", "--step", "0.25", "-o", "grid.json"]) == 0
    expected = bo.rounded(bo.solve(small()), 0.25)
    assert expected.sentence in " ".join(capsys.readouterr().out.split())
    assert bo.Allocation.read("grid.json").epsilons.tolist() == expected.allocation.epsilons.tolist()
    assert main(["verify", "grid.json", "--problem", "problem.json"]) == 0
    assert main(["solve", "problem.json", "--step", "0.25", "--certificate", "c.json"]) == 2
    assert "Leave one of the two out" in capsys.readouterr().err


def test_an_argument_that_is_missing_is_named_as_the_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = small().with_fields(
        attributes=[bo.Attribute("smoker", categories=2, epsilon=1.5), *small().attributes[1:]]
    )
    bo.solve(pinned).write("pinned.json")
    assert main(["show", "pinned.json", "--explain"]) == 2
    assert capsys.readouterr().err.startswith("InputError: --problem: is needed, as an allocation file")
    assert main(["compare", "best.json", "--reference", "nobody"]) == 2
    assert capsys.readouterr().err.startswith("InputError: --reference: 'nobody' is not one of the splits")
    assert main(["check", "problem.json", "--time-limit", "-1"]) == 2
    assert capsys.readouterr().err.startswith("InputError: --time-limit: is -1")
