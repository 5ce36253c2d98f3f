"""The command line on members of clusters and on public columns of categories: every way out is an option."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.cli.stated_scores import scores_of
from budget_opt.errors import InputError
from tests.estimators.survey_release import originals, problem

Capture = pytest.CaptureFixture[str]


@cache
def allocation() -> bo.Allocation:
    return bo.uniform(problem(total_epsilon=16.0, clusters=[["smoker", "income"]]))


@cache
def released_text() -> str:
    table = originals().assign(size=originals()["size"].mod(3).sub(1))
    return str(bo.randomize(table, allocation()).to_csv(index=False))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    allocation().write("a.json")
    Path("r.csv").write_text(released_text())


def run(capsys: Capture, *options: str) -> tuple[int, str, str]:
    code = main(["estimate", "a.json", "r.csv", "--weight", "none", *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def found(capsys: Capture, *options: str) -> Any:
    code, out, err = run(capsys, *options, "--json")
    assert code == 0, err
    return json.loads(out)[0]


def test_members_of_a_cluster_are_tested_by_their_corrected_table_which_is_said(capsys: Capture) -> None:
    expected = bo.estimate.independence_test(
        "r.csv", allocation(), "smoker", "income", method="corrected", weight=False
    )
    mine = found(capsys, "--test", "smoker,income")
    assert (mine["method"], mine["p_value"]) == ("corrected", expected.p_value)
    assert mine["notes"][0].startswith("smoker and income are randomized together")
    assert found(capsys, "--test", "smoker,income", "--test-method", "corrected")["notes"] == list(
        expected.notes
    )
    assert found(capsys, "--test", "smoker,age")["method"] == "released"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--test", "smoker,income", "--test-method", "released"), "Use --test-method corrected"),
        (("--test", "smoker,age,wave", "--test-method", "permutation"), "Use --test-method released"),
        (("--marginals", "age", "--test-method", "released"), "--test-method: is of --test"),
        (("--test", "smoker,income", "--method", "simplex"), "that of a test is --test-method"),
    ],
)
def test_a_refused_method_of_a_test_names_the_option_that_is_taken(
    capsys: Capture, options: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("column", "typed", "scores"),
    [
        ("wave", "first:0,second:1,third:5", {"first": 0, "second": 1, "third": 5}),
        ("wave", '"first":-1.5, "second":0,third:2', {"first": -1.5, "second": 0, "third": 2}),
        ("size", "-1:0,0:7,1:1", {"-1": 0, "0": 7, "1": 1}),
    ],
)
def test_scores_of_a_public_columns_values_are_typed_by_value(
    capsys: Capture, column: str, typed: str, scores: dict[Any, float]
) -> None:
    names = ("income", column)
    expected = bo.estimate.moment("r.csv", allocation(), *names, weight=False, scores={column: scores})
    mine = found(capsys, "--moment", ",".join(names), "--scores", f"{column}={typed}")
    assert (mine["value"], mine["standard_error"]) == (expected.value, expected.standard_error)


def test_values_are_typed_as_the_column_has_them() -> None:
    """The text of a CSV file is text; where columns have types, the same words stand for their values."""
    assert scores_of(["size=-1:0,true:1,:7"], ["size"]) == {
        "size": {"-1": 0, -1: 0, "true": 1, True: 1, "": 7, None: 7}
    }
    assert scores_of(['wave="a,b":0,x:y:1,c=d:2'], ["wave"]) == {"wave": {"a,b": 0, "x:y": 1, "c=d": 2}}


def test_a_typed_column_takes_the_same_words(capsys: Capture) -> None:
    table = pd.read_csv("r.csv")
    table.to_parquet("r.parquet")
    scores = ("--moment", "income,size", "--scores", "size=-1:0,0:7,1:1", "--weight", "none", "--json")
    assert main(["estimate", "a.json", "r.parquet", *scores]) == 0
    (mine,) = json.loads(capsys.readouterr().out)
    assert mine["value"] == found(capsys, *scores[:4])["value"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), 'give --scores "wave=first:0,second:1", a number a value.'),
        (("--scores", "wave=0,1,2"), "Give the number of each value, like wave=first:0,second:1"),
        (("--scores", "wave=first:0,second"), "Give the number of each value, like wave=first:0,second:1"),
        (("--scores", "wave=first:x"), "Give the number of each value, like wave=first:0,second:1"),
        (("--scores", "wave=first:0"), "2 of the 3 values of the public column 'wave' have none"),
        (("--scores", "income=a:0,b:1,c:2"), "of a public column like wave=first:0,second:1"),
    ],
)
def test_where_scores_by_value_are_missing_or_wrong_the_way_out_is_an_option(
    capsys: Capture, options: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, "--moment", "income,wave", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert "{" not in err


def test_python_names_what_works_in_python() -> None:
    with pytest.raises(InputError, match=r'scores=\{"wave": \{"first": 0, "second": 1\}\}'):
        bo.estimate.moment("r.csv", allocation(), "income", "wave", scores={"wave": [0, 1, 2]}, weight=False)
    with pytest.raises(InputError, match='Use method="corrected", or name no method'):
        bo.estimate.independence_test(
            "r.csv", allocation(), "smoker", "income", method="permutation", weight=False
        )
