"""`budget-opt report` writes what `bo.report` writes, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.cli import main
from tests.report.reported_problems import hand_made, health

pytestmark = pytest.mark.usefixtures("nothing_is_drawn")


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_problem_and_a_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    health().write("problem.json")
    hand_made(health()).write("split.json")


def test_the_command_writes_the_report_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "report",
        "split.json",
        "-o",
        "r.html",
        "--problem",
        "problem.json",
        "--n",
        "5000",
        "--guess",
        "0.2",
    ]
    assert main(command) == 0
    assert capsys.readouterr().out == "written: r.html\n"
    page = Path("r.html").read_text(encoding="utf-8")
    read = bo.Allocation.read("split.json")
    bo.report(read, "python.html", bo.Problem.read("problem.json"), 5000, guess=0.2)
    assert page == Path("python.html").read_text(encoding="utf-8")
    assert "What 5,000 records will say" in page
    assert "Power to find 0.2" in page
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "written": "r.html",
        "bytes": Path("r.html").stat().st_size,
    }


def test_the_command_takes_a_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "problem.json", "-o", "best.json", "--certificate", "proof"]) == 0
    assert main(["report", "best.json", "-o", "r.html", "--certificate", "proof"]) == 0
    assert "was evaluated again" in Path("r.html").read_text(encoding="utf-8")
    assert main(["report", "best.json", "-o", "r.html", "--certificate", "problem.json"]) == 2
    assert "CertificateError" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["problem.json", "split.json", "no/such/folder.html"])
def test_the_command_replaces_nothing_but_a_report(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert main(["report", "split.json", "-o", place]) == 2
    assert "choose another" in capsys.readouterr().err.lower()
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
