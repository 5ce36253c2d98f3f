"""The command line on an attribute whose matrix a known source chose: its marginal, and the way to it."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.cli import main

Capture = pytest.CaptureFixture[str]
LABELS = ["low", "middle", "high"]
COUNTS = (600, 300, 100)
"""Released cells of each label."""


@cache
def allocation() -> bo.Allocation:
    known = bo.Attribute(
        "s", categories=LABELS, source={"distributions": [[0.6, 0.3, 0.1]]}, distortion_max=0.2
    )
    censored = bo.Attribute(
        "c",
        categories=3,
        source={"between": {"lower": [0.5, 0.1, 0.0], "upper": [0.7, 0.4, 0.1]}},
        epsilon=1.0,
    )
    attributes = [bo.Attribute("x", categories=2), bo.Attribute("y", categories=2), known, censored]
    return bo.solve(bo.Problem(attributes=attributes, moments=[bo.CrossMoment("x", "y")], total_epsilon=8.0))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    allocation().write("a.json")
    law = np.array([0.6, 0.35, 0.05]) @ np.array(allocation()["c"].exact_matrix, dtype=float)
    places = np.linspace(0, 1, sum(COUNTS), endpoint=False)
    reported = np.searchsorted(law.cumsum()[:-1], places, side="right")
    lines = [
        f"{i % 2},{i // 2 % 2},{s},{c}\n"
        for i, (s, c) in enumerate(zip(np.repeat(LABELS, COUNTS), reported, strict=True))
    ]
    Path("r.csv").write_text("x,y,s,c\n" + "".join(lines))


def run(capsys: Capture, *options: str) -> tuple[int, str, str]:
    code = main(["estimate", "a.json", "r.csv", *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_shares_are_those_of_the_inverse_matrix_printed_as_json_and_in_a_file(capsys: Capture) -> None:
    matrix = np.array(allocation()["s"].exact_matrix, dtype=float)
    raw = np.array(COUNTS) / sum(COUNTS)
    shares = np.linalg.solve(matrix.T, raw)
    errors = np.sqrt(raw @ (np.linalg.inv(matrix) - shares) ** 2 / (sum(COUNTS) - 1))
    code, out, err = run(capsys, "--source-marginal", "s", "--json", "--level", "0.9", "-o", "e.csv")
    assert code == 0, err
    (found,) = json.loads(out)
    assert (found["result"], found["asked"], found["kind"], found["target"]) == (
        "source-marginal",
        "s",
        "estimated",
        "population",
    )
    assert [cell["category"] for cell in found["cells"]] == LABELS
    assert [cell["share"] for cell in found["cells"]] == pytest.approx(shares)
    assert [cell["standard_error"] for cell in found["cells"]] == pytest.approx(errors)
    # 1.6449: the 95 % quantile of the normal law, from its tables
    assert [cell["high"] for cell in found["cells"]] == pytest.approx(shares + 1.6449 * errors, abs=1e-5)
    with Path("e.csv").open(newline="") as file:
        assert [float(row["share"]) for row in csv.DictReader(file)] == pytest.approx(shares)
    code, out, _ = run(capsys, "--source-marginal", "s", "--level", "0.9")
    assert code == 0
    assert "90 % interval" in out
    for label, share in zip(LABELS, shares, strict=True):
        assert f"s = {label}" in out
        assert f"{100 * share:.1f} %" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--source-marginal", "c"), "never reported"),
        (("--source-marginal", "x"), "Take --marginals x."),
        (("--source-marginal", "s,x"), "attribute 's,x' is not in the allocation"),
        (("--source-marginal", "s", "--target", "data"), "--target data: the errors of --source-marginal"),
        (("--marginals", "s"), "Take --source-marginal s, or remove its source"),
        (("--table", "x,s"), "Take --source-marginal s, or remove its source"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_option_that_can(
    capsys: Capture, options: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_marginals_of_all_say_by_which_option_the_others_are_asked_for(capsys: Capture) -> None:
    code, out, _ = run(capsys, "--marginals", "all")
    assert code == 0
    assert "Left out: s, see source_marginal (--source-marginal)" in out
