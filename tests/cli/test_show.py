"""The command show: the tables of an allocation, and what it means for the people in the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    problem = bo.Problem(
        name="survey",
        total_epsilon=3.0,
        attributes=[
            bo.Attribute("marital", categories=["single", "married", "widowed"], epsilon=1.0),
            bo.Attribute("sex", categories=["f", "m"], epsilon=1.0),
            bo.Attribute("income", categories=5, epsilon=1.0),
        ],
        moments=[bo.CrossMoment("marital", "income")],
        unit={"of": "person", "id": "pid", "max_rows": 2},
        dropped=["pid"],
        waves=3,
    )
    bo.uniform(problem).write(tmp_path / "a.json")
    (tmp_path / "joint.csv").write_text("marital,sex,n\nsingle,f,5\nmarried,m,9\nwidowed,f,3\nsingle,m,4\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["show", "a.json", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_show_prints_the_allocation_as_it_is_and_then_what_it_means(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    allocation = bo.Allocation.read("a.json")
    tables, _, meaning = out.partition("What it means: seeing one column alone")
    assert tables.strip() == str(allocation).strip()
    words = " ".join(meaning.split())
    assert "A person, told by the column pid, may have up to 2 of them" in words
    assert "3 releases of the same people are planned" in words
    assert "Beside the sum, 3 nats for certain, a delta of 1e-06 buys nothing here" in words
    assert all(len(line) <= 100 for line in out.splitlines())


def test_meaning_alone_prints_no_tables_of_the_split(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "--meaning")
    assert code == 0
    assert out.startswith("What it means: seeing one column alone")
    assert out.strip() == str(bo.meaning(bo.Allocation.read("a.json"))).strip()


def test_json_is_the_allocation_and_with_meaning_its_meaning(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "--json")
    allocation = bo.Allocation.read("a.json")
    assert json.loads(out) == json.loads(json.dumps(allocation.to_dict()))
    _, out, _ = run(capsys, "--json", "--meaning")
    assert json.loads(out) == json.loads(json.dumps(bo.meaning(allocation).to_dict()))


def test_priors_and_public_joints_are_taken_from_options(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys,
        "--prior",
        "sex=0.9,0.1",
        "--prior",
        "income=5,1,1,1,1",
        "--joint",
        "joint.csv",
        "--json",
        "--meaning",
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [one["prior"] for one in found["columns"]] == ["uniform", "stated", "stated"]
    assert [one["guess_without"] for one in found["columns"][1:]] == [0.9, 0.5555555555555556]
    (joint,) = found["joints"]
    counts = [[5, 4], [0, 9], [3, 0]]
    wanted = bo.meaning(bo.Allocation.read("a.json"), joint={("marital", "sex"): counts}).joints[0]
    assert joint["learned"][0]["log_odds"] == wanted.learned[0].log_odds
    _, out, _ = run(capsys, "--joint", "joint.csv")
    assert "Under the stated joint distribution of marital, sex, which is taken to be public" in out


def test_a_probability_that_stands_in_both_tables_is_one_figure(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the uniform prior a report is true as probably as the truth is reported."""
    _, out, _ = run(capsys)
    tables, _, meaning = out.partition("What it means")
    for line in meaning.splitlines():
        if line.rstrip().endswith("uniform") and "not released" not in line:
            name, _, believed = line.split()[:3]
            rows = [one for one in tables.splitlines() if one.split()[:1] == [name]]
            assert any(row.rstrip().endswith(f" {believed} %") for row in rows)
    assert "under the prior at the right" in " ".join(meaning.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--prior", "sex"), "--prior: is 'sex', must be a name and a share a category"),
        (("--prior", "sex=a,b"), "--prior: is 'sex=a,b', must be"),
        (("--prior", "sex=0.5"), r"--prior: of 'sex' is a list of 1, must be 2 shares"),
        (("--prior", "age=1,2"), "--prior: 'age' is not an attribute"),
        (("--joint", "nowhere.csv"), "nowhere.csv: there is no such file"),
        (("--joint", "a.json"), "the name must end in"),
        (("--meaning", "--explain"), "Leave one of the two out"),
    ],
)
def test_what_does_not_fit_is_said_in_one_paragraph(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
