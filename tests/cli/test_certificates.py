"""solve --certificate and verify --certificate: one file between two commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.certificate.document import Header
from budget_opt.cli import main


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=[bo.CrossMoment("a", "b", weight=2.0), bo.CrossMoment("b", "c")],
        total_epsilon=3.0,
    ).write(tmp_path / "problem.json")
    return tmp_path / "problem.json"


def test_a_certificate_goes_from_solve_to_verify(
    problem_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(problem_file.parent)
    files = "--certificate", "proof.zip"
    assert main(["solve", "problem.json", "-o", "allocation.json", *files]) == 0
    assert "written: proof.zip" in capsys.readouterr().out
    assert main(["verify", "allocation.json", *files]) == 0
    assert "boxes of the certificate" in capsys.readouterr().out

    Path("broken.zip").write_bytes(Path("proof.zip").read_bytes()[:-100])
    assert main(["verify", "allocation.json", "--certificate", "broken.zip"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("CertificateError: ")
    assert said.count("\n") == 1

    assert main(["solve", "problem.json", "--epsilon", "2.9", "--certificate", "other.zip"]) == 0
    assert main(["verify", "allocation.json", "--certificate", "other.zip"]) == 1
    assert "FAILS  the certificate is of the allocation's problem" in capsys.readouterr().out


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
