"""The command line on designs: a problem in, the problem with its clusters out."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import jsonschema
import pytest

import budget_opt as bo
from budget_opt.api.schemas import schema_of
from budget_opt.cli import main
from tests.api.design.test_design import survey


def test_the_command_writes_the_problem_with_its_clusters_and_its_solution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    survey().write("problem.json")
    asked = ["design", "problem.json", "-o", "designed.json", "--allocation", "allocation.json"]
    assert main([*asked, "--max-cells", "16", "--n", "1000", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = bo.design(survey(), max_cells=16, n=1000)
    assert bo.Problem.read("designed.json") == expected.problem
    assert said["bound"] == expected.bound
    assert said["n"] == 1000
    assert bo.Allocation.read("allocation.json").objective.value == expected.value
    assert main(["solve", "designed.json", "-o", "again.json"]) == 0
    assert bo.Allocation.read("again.json").objective.value == expected.value
    capsys.readouterr()
    assert main(["design", "problem.json", "--objective", "min_variance"]) == 0
    text = capsys.readouterr().out
    assert "randomize together" in text
    assert "min_variance" in text


def test_no_problem_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    survey().write("problem.json")
    before = Path("problem.json").read_bytes()
    assert main(["design", "problem.json", "-o", "problem.json"]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["design", "problem.json", "-o", "nowhere/designed.json"]) == 2
    assert main(["design", "problem.json", "--allocation", "problem.json"]) == 2
    assert Path("problem.json").read_bytes() == before


def test_impossible_wishes_and_wrong_options_have_their_exit_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    survey(moments=[bo.CrossMoment("smoker", "income", floor=0.999)]).write("problem.json")
    assert main(["design", "problem.json", "-o", "designed.json"]) == 3
    assert "Raise total_epsilon to" in capsys.readouterr().err
    assert not Path("designed.json").exists()
    assert main(["design", "problem.json", "--max-cells", "3"]) == 2
    assert "--max-cells: " in capsys.readouterr().err


def test_the_certificate_of_a_design_is_read_by_verify_and_has_a_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    survey().write("problem.json")
    written = ["--allocation", "allocation.json", "--certificate", "design.certificate"]
    assert main(["design", "problem.json", "--max-cells", "16", *written]) == 0
    assert "written: design.certificate" in capsys.readouterr().out
    assert main(["verify", "allocation.json", "--certificate", "design.certificate", "--details"]) == 0
    assert "no clusters or groupings are better" in capsys.readouterr().out
    # what is proved of one allocation says nothing of another
    survey().with_clusters([]).write("problem-alone.json")
    assert main(["solve", "problem-alone.json", "-o", "alone.json"]) == 0
    capsys.readouterr()
    assert main(["verify", "alone.json", "--certificate", "design.certificate"]) == 1
    assert main(["schema", "design-certificate"]) == 0
    capsys.readouterr()
    with zipfile.ZipFile("design.certificate") as archive:
        header = json.loads(archive.read("design.json"))
    jsonschema.validate(header, schema_of("design-certificate"))
    assert main(["design", "problem.json", "--allocation", "one", "--certificate", "one"]) == 2
    assert "named twice" in capsys.readouterr().err
