"""solve --certificate and verify --certificate: one file between two commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.certificate.document import Header
from budget_opt.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=[bo.CrossMoment("a", "b", weight=2.0), bo.CrossMoment("b", "c")],
        total_epsilon=3.0,
    ).write(tmp_path / "problem.json")
    return tmp_path / "problem.json"


def test_a_certificate_goes_from_solve_to_verify(problem_file: Path, tmp_path: Path, run_module: Run) -> None:
    files = "--certificate", "proof.zip"
    solved = run_module(
        "-m", "budget_opt", "solve", str(problem_file), "-o", "allocation.json", *files, cwd=tmp_path
    )
    assert solved.returncode == 0, solved.stderr
    assert "written: proof.zip" in solved.stdout
    verified = run_module("-m", "budget_opt", "verify", "allocation.json", *files, cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "boxes of the certificate" in verified.stdout

    (tmp_path / "broken.zip").write_bytes((tmp_path / "proof.zip").read_bytes()[:-100])
    broken = run_module(
        "-m", "budget_opt", "verify", "allocation.json", "--certificate", "broken.zip", cwd=tmp_path
    )
    assert broken.returncode == 2
    assert "CertificateError" in broken.stderr
    assert "Traceback" not in broken.stderr

    other = run_module(
        "-m",
        "budget_opt",
        "solve",
        str(problem_file),
        "--epsilon",
        "2.9",
        "--certificate",
        "other.zip",
        cwd=tmp_path,
    )
    assert other.returncode == 0, other.stderr
    failed = run_module(
        "-m", "budget_opt", "verify", "allocation.json", "--certificate", "other.zip", cwd=tmp_path
    )
    assert failed.returncode == 1
    assert "FAILS  the certificate is of the allocation's problem" in failed.stdout


def test_the_schema_of_a_certificate_has_the_fields_of_its_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "certificate"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert set(schema["required"]) == set(schema["properties"]) == set(Header.model_fields)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("-o", "same", "--certificate", "same"), "is the allocation's file"),
        (("-o", "nowhere/allocation.json"), "is not a folder"),
        (("--certificate", "nowhere/proof.zip"), "is not a folder"),
        (("--certificate", "/dev/null"), "is not a certificate"),
    ],
)
def test_places_that_will_not_do_are_told_before_the_solve(
    options: tuple[str, ...],
    told: str,
    problem_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    assert main(["solve", str(problem_file), *options]) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["problem.json"]
