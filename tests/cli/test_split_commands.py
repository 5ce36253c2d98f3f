"""The command line on splits by hand and on levels of moments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.cli import main
from tests.api.test_judging import GOOD, problem


@pytest.mark.parametrize("name", ["split.json", "split.yaml", "allocation.json"])
def test_the_command_line_judges_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    problem().write("problem.json")
    if name == "allocation.json":
        bo.allocation_from(problem(), GOOD).write(name)
    else:
        Path(name).write_text(json.dumps(GOOD))
    assert main(["judge", "problem.json", name, "-o", "judged.json", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = bo.judge(problem(), GOOD)
    assert said["relative_gap"] == expected.relative_gap
    assert said["broken"] == []
    assert bo.Allocation.read("judged.json").objective.bound == expected.bound
    Path("split.json").write_text(json.dumps({**GOOD, "region": 3.0}))
    assert main(["judge", "problem.json", "split.json", "--quick"]) == 1
    said = capsys.readouterr().out
    assert "broken: epsilon of a record: 6, limit 4.0, off by 2" in said
    assert "this split: geometric_mean" in said


def test_solve_keeps_the_first_level_to_the_tolerance_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = problem().moments
    problem().with_fields(moments=[first, second.with_fields(level=2)]).write("problem.json")
    assert main(["solve", "problem.json", "-o", "a.json", "--level-tolerance", "0.01"]) == 0
    assert "level 2: geometric_mean" in capsys.readouterr().out
    outcome = bo.Allocation.read("a.json").objective
    assert outcome.gap_tolerance == 0.01
    assert outcome.relative_gap is not None
    assert 1e-4 < outcome.relative_gap <= 0.01
    assert main(["verify", "a.json", "--problem", "problem.json"]) == 0
    assert "those of level 1" in capsys.readouterr().out
    assert main(["solve", "problem.json", "--level-tolerance", "2"]) == 2
