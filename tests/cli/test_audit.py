"""The command `audit`: a sampler behind a command, exit codes 0, 1 and 2, and what is told beforehand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from budget_opt.cli import main
from tests.verifier.sample_samplers import ALLOCATION, SCRIPT


@pytest.fixture
def sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    ALLOCATION.write("allocation.json")
    Path("sampler.py").write_text(SCRIPT)
    return [sys.executable, "sampler.py"]


def asked(*more: str) -> list[str]:
    return ["audit", "allocation.json", "--trials", "4000", "--calls", "4", "--seed", "1", *more, "--"]


def test_a_sound_command_exits_with_0_and_is_told_what_would_be_noticed(
    sampler: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked(), *sampler, "0.731"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("notices, 9 times in 10, a truth kept too often by 0.4")
    assert "no violation found; noticed would be a truth kept too often by 0.4" in said.out
    assert said.err.rstrip().rpartition("by ")[2] in said.out
    assert "the record  epsilon at least" in said.out


def test_a_faulty_command_exits_with_1_and_json_holds_the_bounds(
    sampler: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked("--json"), *sampler, "0.95"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["holds"] is False
    wrong = [bound["name"] for bound in document["bounds"] if bound["lower"] > bound["allowed"]]
    assert wrong == ["works"]
    assert (document["error"], document["seed"]) == (1e-9, "1")


def test_columns_that_are_not_declared_are_found_in_what_a_command_writes(
    sampler: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path("sampler.py").read_text().replace("records.fieldnames", 'records.fieldnames + ["was"]')
    Path("sampler.py").write_text(
        script.replace(
            "    for name, value", "    record['was'] = record['income']\n    for name, value", 1
        ).replace("in record.items()", "in list(record.items())[:3]", 1)
    )
    assert main([*asked(), *sampler, "0.731"]) == 1
    said = capsys.readouterr()
    assert "FOUND  returns columns that the allocation does not release: 'was'" in said.out
    assert "1 violation found" in said.out


def test_what_cannot_be_audited_exits_with_2_in_one_paragraph(
    sampler: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked(), "no-such-program"]) == 2
    assert "no-such-program: cannot be started" in capsys.readouterr().err
    assert main([*asked(), *sampler, "high"]) == 2
    said = capsys.readouterr().err
    assert "ended with exit code 1, saying" in said
    assert "made up" in said
    assert main(["audit", "allocation.json", "--trials", "5", "--", *sampler]) == 2
    assert "--trials: is 5, must be at least 1,000." in capsys.readouterr().err
    assert main(["audit", "allocation.json"]) == 2
    assert "COMMAND" in capsys.readouterr().err
    assert main([*asked("--time-limit", "0"), *sampler]) == 2
    assert "--time-limit: is 0.0, must be a positive number" in capsys.readouterr().err
