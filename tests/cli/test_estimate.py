"""The command line on estimates: every option says what Python says, at any level, or nothing at all."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.estimators.joint.methods import METHODS
from tests.estimators.survey_release import originals, problem

LEVEL = 0.99
SCORES = {"region": [0, 1, 5]}
Capture = pytest.CaptureFixture[str]


@cache
def allocation() -> bo.Allocation:
    """Epsilons at which nothing is noise; the region has no scores."""
    regions = bo.Attribute("region", categories=["first", "second", "third"])
    return bo.uniform(problem(total_epsilon=16.0, attributes=[*problem().attributes, regions]))


@cache
def released_text() -> str:
    table = originals().assign(region=originals()["wave"])
    return str(bo.randomize(table, allocation()).to_csv(index=False))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Allocation:
    monkeypatch.chdir(tmp_path)
    allocation().write("allocation.json")
    Path("r.csv").write_text(released_text())
    return allocation()


def run(capsys: Capture, *options: str) -> tuple[int, str, str]:
    code = main(["estimate", "allocation.json", "r.csv", *options])
    said = capsys.readouterr()
    return code, said.out, re.sub(r"note: no manifest.*\n", "", said.err)


def answer(capsys: Capture, *options: str) -> list[dict[str, Any]]:
    code, out, err = run(capsys, *options, "--json")
    assert (code, err) == (0, "")

    def refused(constant: str) -> None:
        raise AssertionError(constant)

    found: list[dict[str, Any]] = json.loads(out, parse_constant=refused)
    return found


def plain(document: Any) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


PYTHON: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "marginals": ("income,age", lambda *a, **k: bo.estimate.marginals(*a, "income", "age", **k), {}),
    "table": ("income,age", lambda *a, **k: bo.estimate.table(*a, "income", "age", **k), {}),
    "covariances": (
        "region,income,age",
        lambda *a, **k: bo.estimate.covariance(*a, "region", "income", "age", **k),
        {"scores": SCORES},
    ),
    "correlations": ("income,age", lambda *a, **k: bo.estimate.correlation(*a, "income", "age", **k), {}),
    "associations": ("all", bo.estimate.associations, {}),
    "statistic": ("g-square:income,age", lambda *a, **k: bo.estimate.g_square(*a, "income", "age", **k), {}),
    "means": ("income:wave", lambda *a, **k: bo.estimate.group_means(*a, "income", by="wave", **k), {}),
    "regress": (
        "income ~ age + size",
        lambda *a, **k: bo.estimate.regress(*a, "income ~ age + size", **k),
        {},
    ),
    "logistic": (
        "smoker ~ income",
        lambda *a, **k: bo.estimate.regress(*a, "smoker ~ income", family="logistic", **k),
        {},
    ),
}


@pytest.mark.parametrize("option", PYTHON)
@pytest.mark.parametrize("target", ["population", "data"])
def test_every_option_says_what_python_says(
    files: bo.Allocation, capsys: Capture, option: str, target: str
) -> None:
    asked, function, more = PYTHON[option]
    expected = function("r.csv", files, target=target, weight=False, **more)
    scores = ["--scores", "region=0,1,5"] if more else []
    command = (f"--{option}", asked, "--level", str(LEVEL), "--target", target, "--weight", "none", *scores)
    (found,) = answer(capsys, *command)
    assert (found.pop("result"), found.pop("asked")) == (option, asked)
    assert found == plain(expected.to_dict(LEVEL))
    assert found["level"] == LEVEL
    assert found != plain(expected.to_dict(0.95))
    code, out, _ = run(capsys, *command, "-o", "e.csv")
    assert code == 0
    assert out.endswith("written: e.csv\n")
    assert ("99 % interval" in out) is (option != "table")  # a table of the default has none
    with Path("e.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    rows = expected.rows(LEVEL)
    assert list(written[0]) == ["result", "asked", *rows[0]]
    assert [list(row.values())[2:] for row in written] == [
        ["" if value is None else str(value) for value in row.values()] for row in rows
    ]


def test_moments_are_a_result_each(files: bo.Allocation, capsys: Capture) -> None:
    expected = bo.estimate.moments("r.csv", files, [("region", "income"), ("age",)], scores=SCORES)
    command = ("--moment", "region, income", "--moment", "age", "--scores", "region=0,1,5", "--level", "0.8")
    found = answer(capsys, *command)
    assert [(one.pop("result"), one.pop("asked")) for one in found] == [
        ("moment", "region,income"),
        ("moment", "age"),
    ]
    assert found == plain([one.to_dict(0.8) for one in expected])
    _, out, _ = run(capsys, *command)
    assert "80 % interval" in out
    assert "Survey weights: share." in out


def test_a_test_has_no_level_and_no_target(files: bo.Allocation, capsys: Capture) -> None:
    expected = bo.estimate.independence_test("r.csv", files, "income", "wave")
    (found,) = answer(capsys, "--test", "income,wave", "--level", "0.8", "--target", "data")
    assert (found.pop("result"), found.pop("asked")) == ("test", "income,wave")
    assert found == plain(expected.to_dict())
    code, out, _ = run(capsys, "--test", "income,wave")
    assert code == 0
    assert out.startswith("Test of the independence of income x wave in the population")


def test_the_method_of_tables_is_taken(files: bo.Allocation, capsys: Capture) -> None:
    (found,) = answer(capsys, "--table", "income,age,smoker", "--method", "unbiased", "--level", "0.9")
    expected = bo.estimate.table("r.csv", files, "income", "age", "smoker", method="unbiased")
    assert found["cells"] == plain(expected.rows(0.9))
    code, out, _ = run(capsys, "--table", "income,age,smoker", "--method", "unbiased", "--level", "0.9")
    assert code == 0
    assert "90 % interval" in out


def test_all_is_every_attribute_that_was_released(files: bo.Allocation, capsys: Capture) -> None:
    marginals, correlations, associations = answer(
        capsys, "--marginals", "all", "--correlations", "all", "--associations", "all"
    )
    names = ["smoker", "income", "age", "region"]
    assert [one["attributes"][0] for one in marginals["marginals"]] == names
    assert correlations["attributes"] == names[:3]
    assert associations["attributes"] == names
    (scored,) = answer(capsys, "--correlations", "all", "--scores", "region=0,1,5")
    assert scored["attributes"] == names


def test_results_of_several_kinds_are_one_file(files: bo.Allocation, capsys: Capture) -> None:
    command = ("--means", "income:age", "--test", "income,age", "--marginals", "smoker", "--moment", "income")
    assert run(capsys, *command, "-o", "e.csv")[0] == 0
    with Path("e.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["result"] for row in rows] == ["moment", *["marginals"] * 2, "test", *["means"] * 3]
    assert [row["asked"] for row in rows][3:5] == ["income,age", "income:age"]
    assert [row["p_value"] != "" for row in rows] == [False, False, False, True, False, False, False]
    assert run(capsys, "--test", "income,age", "-o", "e.csv")[0] == 0  # its own file is replaced
    assert len(Path("e.csv").read_text().splitlines()) == 2


def test_an_attribute_named_like_a_column_of_ours_steps_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    named = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute("result", categories=2), bo.Attribute("share", categories=2)],
            total_epsilon=8.0,
            moments=[bo.CrossMoment("result", "share")],
        )
    )
    named.write("allocation.json")
    Path("r.csv").write_text("result,share\n" + "0,1\n1,0\n1,1\n0,0\n" * 50)
    assert run(capsys, "--table", "result,share", "-o", "e.csv")[0] == 0
    first = Path("e.csv").read_text().splitlines()[0]
    assert first.startswith("result,asked,attribute result,share,estimated share,")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing is asked for. Give one or more of --moment, --marginals"),
        (("--marginals", "all", "--level", "1"), "--level: is 1.0, must be above 0 and below 1"),
        (("--marginals", "all", "--level", "nan"), "--level: is nan"),
        (("--marginals", "all", "--noise-limit", "0"), "--noise-limit: is 0.0, must be a number above 0"),
        (("--table", "income", "--method", "best"), "--method: is 'best', must be one of"),
        (("--marginals", "income", "--method", "simplex"), "--method: is of joint tables"),
        (("--means", "income"), "--means income: must be like income:region"),
        (("--statistic", "income,age"), "--statistic income,age: must be like entropy:income"),
        (("--statistic", "entropi:income"), "'entropi' is none of entropy, mutual-information"),
        (("--test", "income,"), "--test income,: must be names of attributes with a comma between them"),
        (("--moment", "income", "--scores", "income"), "--scores income: must be like income=0,1,2"),
        (("--moment", "income", "--scores", "region=0,1,5"), "--scores region: no moment, covariance"),
        (("--marginals", "income", "--weight", "waves"), "--weight: 'waves' is not a public column"),
        (("--moment", "wave"), "public columns alone, which no noise is in"),
        (("--regress", "income ~~ age"), "the regression has 1 fault"),
    ],
)
def test_words_that_say_nothing_are_refused_before_the_release_is_read(
    files: bo.Allocation, capsys: Capture, options: tuple[str, ...], said: str
) -> None:
    Path("r.csv").unlink()
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_one_refusal_is_named_and_nothing_is_said_or_written(files: bo.Allocation, capsys: Capture) -> None:
    limits = ("--noise-limit", "1e-6", "-o", "e.csv")
    code, out, err = run(capsys, "--test", "income,age", "--means", "income:age", *limits)
    assert (code, out, Path("e.csv").exists()) == (2, "", False)
    assert err.startswith("NoiseError: --means income:age: mean of income by age")
    assert re.search(r"or pass --noise-limit 0\.\d+ or more to see it all the same\.", err)
    code, out, err = run(capsys, "--marginals", "income", "--moment", "income,region", "-o", "e.csv")
    assert (code, out, Path("e.csv").exists()) == (2, "", False)
    assert err.startswith("InputError: --moment income,region: attribute 'region'")
    assert 'Give --scores "region=one number a category"' in err
    code, _, err = run(capsys, "--table", "income,agee")
    assert code == 2
    assert err.startswith("InputError: --table income,agee: 'agee' is not")


def test_a_table_of_noise_says_the_way_out_in_options(files: bo.Allocation, capsys: Capture) -> None:
    options = ("--table", "smoker,income,age,region", "--method", "unbiased", "--noise-limit", "0.03")
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert "Another method, such as --method default, errs less." in err
    assert re.search(r"pass --noise-limit 0\.\d+ or more", err)


def test_no_other_file_is_replaced(files: bo.Allocation, capsys: Capture) -> None:
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("link.csv").symlink_to("r.csv")
    for name, said in (
        ("other.csv", "exists and is not a table of estimates"),
        ("r.csv", "exists and is not a table of estimates"),
        ("link.csv", "exists and is not a table of estimates"),
        ("e.txt", "must end in .csv"),
        ("none/e.csv", "is not a folder"),
    ):
        code, out, err = run(capsys, "--marginals", "income", "-o", name)
        assert (code, out) == (2, "")
        assert said in err
    assert Path("r.csv").read_text() == released_text()
    assert Path("other.csv").read_text() == "a,b\n1,2\n"


def test_the_release_is_not_replaced_even_if_it_begins_like_estimates(
    files: bo.Allocation, capsys: Capture
) -> None:
    Path("r.csv").write_text("result,asked,x\n")
    code, _, err = run(capsys, "--marginals", "income", "-o", "r.csv")
    assert code == 2
    assert "is the released table" in err


def test_the_help_names_every_option_in_words(capsys: Capture) -> None:
    assert main(["estimate", "--help"]) == 0
    said = capsys.readouterr().out
    for option in (*PYTHON, "moment", "test", "target", "level", "method", "scores", "weight", "noise-limit"):
        assert f"--{option} " in said
    unbroken = "".join(said.split())
    assert all(f"{name}," in unbroken or f"{name}(" in unbroken or f"{name}." in unbroken for name in METHODS)
