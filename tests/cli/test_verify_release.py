"""The command `verify` on a release: pass or fail, more with --details, some of it without originals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.cli import main

N = 400


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    problem = bo.Problem(
        attributes=[bo.Attribute("smoker", categories=["no", "yes"]), bo.Attribute("income", categories=3)],
        moments=[bo.CrossMoment("smoker", "income")],
        total_epsilon=2.0,
    )
    bo.uniform(problem).write("allocation.json")
    rng = np.random.default_rng(1)
    rows = zip(rng.choice(["no", "yes"], N), rng.integers(0, 3, N), strict=True)
    Path("data.csv").write_text("smoker,income\n" + "".join(f"{a},{b}\n" for a, b in rows))
    return tmp_path


def randomized(place: Path, *options: str) -> None:
    assert main(["randomize", "allocation.json", "data.csv", "-o", "public/released.csv", *options]) == 0


def test_a_release_is_told_to_pass_in_a_few_lines_and_in_full_with_details(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    randomized(place, "--row-order", "public")
    command = ["verify", "allocation.json", "--original", "data.csv", "--released", "public/released.csv"]
    capsys.readouterr()
    assert main(command) == 0
    whole = capsys.readouterr().out
    short = whole.partition("Computed from the originals")[2]
    assert whole.startswith("2 reports: all checks hold\n\nallocation: all checks hold")
    assert "all checks hold (false-alarm rate 1e-09)" in short
    assert "would notice" not in short
    assert len(short.splitlines()) <= 4
    assert main([*command, "--details"]) == 0
    full = capsys.readouterr().out.partition("Computed from the originals")[2]
    assert "holds  smoker: share of cells reported as they are" in full
    assert full.count("would notice") > 10


def test_a_release_that_was_not_randomized_fails_without_a_number(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["verify", "allocation.json", "--original", "data.csv", "--released", "data.csv"])
    whole = capsys.readouterr().out
    told = whole.partition("Computed from the originals")[2]
    assert code == 1
    failed = [line for line in told.splitlines() if "FAILS" in line]
    assert whole.startswith("2 reports: 1 FAILS: release\n\nComputed from the originals")
    assert "  FAILS  smoker: share of cells reported as they are" in failed
    assert not any(character.isdigit() for line in failed for character in line)


def test_a_shuffled_release_is_verified_alone_and_what_was_not_checked_is_said(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    randomized(place)
    capsys.readouterr()
    assert main(["verify", "allocation.json", "--released", "public/released.csv", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)[1]
    assert report["holds"]
    assert report["releasable"]
    assert any("cannot be checked without the originals" in note for note in report["notes"])
    table = Path("public/released.csv")
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    assert main(["verify", "allocation.json", "--released", "public/released.csv"]) == 1
    assert "FAILS  the release has the rows of its manifest" in capsys.readouterr().out


def test_r35_a_release_that_fails_while_it_is_made_leaves_only_claims_in_the_error(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge is shown the originals as reports: what it measured stays in the internal folder."""
    from budget_opt.verifier.release import ReleaseJudge

    add = ReleaseJudge.add
    monkeypatch.setattr(ReleaseJudge, "add", lambda judge, original, _: add(judge, original, original))
    command = [
        "randomize",
        "allocation.json",
        "data.csv",
        "-o",
        "public/released.csv",
        "--internal",
        "inside",
    ]
    assert main(command) == 1
    told = capsys.readouterr().err.partition("checks fail:")[2]
    assert "no stretch of rows is left as it was in every attribute: not so for the rows as a whole" in told
    assert not any(character.isdigit() for character in told)
    assert not Path("public").exists()
    assert json.loads(Path("inside/verification.json").read_text())["noise"]
