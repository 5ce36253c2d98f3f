"""`budget-opt verify` of an allocation: what it is asked, what it prints, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.allocation import Statement, allocate
from budget_opt.cli import main

Verify = Callable[..., tuple[int, str, str]]
PROBLEM = bo.Problem(
    name="survey",
    attributes=[bo.Attribute(name, categories=3) for name in ("smoker", "income", "age", "region")],
    moments=[bo.CrossMoment("smoker", "income"), bo.CrossMoment("age", "region", weight=2.0)],
    total_epsilon=3.0,
    objective="geometric_mean",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    PROBLEM.write(folder / "problem.json")
    bo.solve(PROBLEM).write(folder / "allocation.json")
    return folder


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Verify:
    """Exit code, standard output and standard error of the command on a folder's allocation."""

    def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
        code = main(["verify", str(folder / "allocation.json"), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_many_checks_of_a_kind_share_a_line_unless_details_are_asked_for(files: Path, verify: Verify) -> None:
    code, short, _ = verify(files)
    assert code == 0
    assert "loss of smoker, and 3 more like it" in short
    assert "loss of region" not in short
    code, long, _ = verify(files, "--details")
    assert code == 0
    assert "holds  loss of region: " in long
    assert len(long.splitlines()) > len(short.splitlines())


def test_the_loss_of_any_attributes_is_printed_with_what_it_does_not_bound(
    files: Path, verify: Verify
) -> None:
    _, out, _ = verify(files, "--subset", "smoker, income", "--subset", "age")
    assert "loss of a change of smoker, income alone" in out
    assert "loss of a change of age alone" in out
    assert "does not bound what can be learned about them" in out


def test_what_the_allocation_really_gives_stands_beside_the_sum(files: Path, verify: Verify) -> None:
    _, out, _ = verify(files)
    assert "proved: Beside the sum, 3 nats for certain, a delta of 1e-06 buys nothing here" in out


def test_as_json_every_check_says_its_name_and_attributes(files: Path, verify: Verify) -> None:
    code, out, _ = verify(files, "--json", "--problem", str(files / "problem.json"))
    assert code == 0
    (report,) = json.loads(out)
    losses = [check for check in report["checks"] if check["name"] == "loss"]
    assert [check["about"] for check in losses] == [[name] for name in PROBLEM.names]
    fields = {"claim", "measured", "limit", "holds", "source", "kind"}
    assert all(fields <= set(check) for check in report["checks"])


@pytest.mark.parametrize(
    "arguments", [("--subset", "smoker,weight"), ("--subset", "age,age"), ("--gap", "0"), ("--gap", "7")]
)
def test_what_cannot_be_asked_ends_with_2_and_one_paragraph(
    files: Path, verify: Verify, arguments: tuple[str, ...]
) -> None:
    code, out, err = verify(files, *arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().split("\n\n")) == 1


def test_a_gap_looser_than_asked_for_ends_with_1_and_says_how_to_ask(tmp_path: Path, verify: Verify) -> None:
    best = bo.solve(PROBLEM)
    value = best.objective.value
    assert value is not None
    loose = allocate(PROBLEM, best.epsilons, Statement(bound=1.5 * value, gap_tolerance=1.0, solver="x"))
    loose.write(tmp_path / "allocation.json")
    code, out, _ = verify(tmp_path)
    assert code == 1
    assert "FAILS  the stated relative gap" in out
    assert "--gap 1" in out
