"""From a codebook to a problem file, and from its rules to moments, on the command line."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pyreadstat
import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.model.schema import problem_schema

CANARY = "4711"
ROWS = pd.DataFrame(
    {
        "sex": [1, 2, 1, 2],
        "health": [1, 3, 2, 1],
        "income": [31.5, 4711.25, 1, 2],
        "note": ["4711-x", "y", "z", "w"],
    }
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with an SPSS file and the same rows as CSV."""
    monkeypatch.chdir(tmp_path)
    pyreadstat.write_sav(
        ROWS,
        "survey.sav",
        variable_value_labels={"sex": {1: "male", 2: "female"}, "health": {1: "good", 2: "fair", 3: "poor"}},
        variable_measure={"health": "ordinal"},
    )
    ROWS.to_csv("survey.csv", index=False)
    Path("public").mkdir()
    return tmp_path


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_init_writes_a_problem_file_from_labels_and_says_what_is_left(place, capsys):
    code, out, err = run(capsys, "init", "survey.sav", "-o", "problem.json")
    assert (code, err) == (0, "")
    written = Path("problem.json").read_text(encoding="utf-8")
    document = json.loads(written)
    jsonschema.validate(document, problem_schema())
    assert document == {
        "format": "budget-opt/problem",
        "version": 1,
        "name": "survey",
        "total_epsilon": 1.0,
        "objective": "geometric_mean",
        "attributes": [
            {"name": "sex", "categories": [1, 2]},
            {"name": "health", "categories": [1, 2, 3], "ordered": True},
        ],
        "moment_rules": [{"all_pairs": ["sex", "health"]}],
    }
    assert bo.Problem.read("problem.json").moments == (bo.CrossMoment("sex", "health"),)
    for words in (
        "income",
        "note",
        '"bins"',
        "drop it: free text",
        "yours to state: the total (now 1)",
        "now all pairs alike",
    ):
        assert words in out
    assert "public column" not in out
    assert CANARY not in written + out


def test_init_takes_labels_a_total_and_drops_what_has_no_domain_only_when_told(place, capsys):
    code, out, _ = run(
        capsys,
        "init",
        "survey.sav",
        "-o",
        "p.json",
        "--labels",
        "--epsilon",
        "2.5",
        "--drop-others",
        "--json",
    )
    assert code == 0
    problem = bo.Problem.read("p.json")
    assert problem.total_epsilon == 2.5
    assert problem.attribute("sex").categories == ("male", "female")
    assert problem.dropped == ("income", "note")
    assert [other["name"] for other in json.loads(out)["others"]] == ["income", "note"]
    assert CANARY not in out


def test_init_never_writes_over_a_file_and_writes_nothing_when_it_fails(place, capsys):
    Path("problem.json").write_text("precious")
    code, out, err = run(capsys, "init", "survey.sav", "-o", "problem.json")
    assert (code, out) == (2, "")
    assert "exists" in err
    assert Path("problem.json").read_text() == "precious"
    for arguments in (("survey.csv",), ("survey.sav", "--epsilon", "-1"), ("absent.sav",)):
        code, out, err = run(capsys, "init", *arguments, "-o", "new.json")
        assert (code, out) == (2, "")
        assert CANARY not in err
        assert not Path("new.json").exists()


def test_a_codebook_that_declares_nothing_makes_no_problem(place, capsys):
    pyreadstat.write_sav(ROWS[["income", "note"]], "bare.sav")
    code, _, err = run(capsys, "init", "bare.sav", "-o", "new.json")
    assert code == 2
    assert "declares the categories of no column" in err


def test_one_attribute_has_no_pairs_and_stands_for_itself(place, capsys):
    Path("one.json").write_text('{"fields": [{"name": "a", "type": "boolean"}]}')
    assert run(capsys, "init", "one.json", "-o", "new.json")[0] == 0
    assert bo.Problem.read("new.json").moments == (bo.CrossMoment("a"),)


def test_a_table_is_named_where_a_codebook_has_several(place, capsys):
    fields = {"fields": [{"name": "a", "type": "boolean"}, {"name": "b", "type": "boolean"}]}
    resources = [{"name": name, "schema": fields} for name in ("people", "places")]
    Path("datapackage.json").write_text(json.dumps({"resources": resources}))
    assert "Choose one" in run(capsys, "init", "datapackage.json", "-o", "new.json")[2]
    assert run(capsys, "init", "datapackage.json", "--table", "places", "-o", "new.json")[0] == 0


def test_from_a_codebook_to_a_release(place, capsys):
    """R16: a column that is left to decide is refused until the problem says what becomes of it."""
    run(capsys, "init", "survey.sav", "-o", "open.json")
    run(capsys, "init", "survey.sav", "-o", "closed.json", "--drop-others")
    for name in ("open", "closed"):
        assert run(capsys, "solve", f"{name}.json", "-o", f"{name}-allocation.json")[0] == 0
    code, _, err = run(capsys, "randomize", "open-allocation.json", "survey.csv", "-o", "public/r.csv")
    assert code == 2
    assert "income" in err
    assert run(capsys, "randomize", "closed-allocation.json", "survey.csv", "-o", "public/r.csv")[0] == 0
    assert CANARY not in Path("public/r.csv").read_text()


RULES = {
    "format": "budget-opt/problem",
    "version": 1,
    "name": "wages",
    "total_epsilon": 4.0,
    "objective": "geometric_mean",
    "attributes": [{"name": name, "categories": 3} for name in ("income", "education", "age")],
    "moments": [{"attributes": ["income", "age"]}],
    "moment_rules": [{"formula": "income ~ education * age", "weight": 2, "floor": 0.01}],
}


def test_check_expands_the_rules_with_reasons_and_writes_them_out(place, capsys):
    Path("rules.json").write_text(json.dumps(RULES))
    code, out, err = run(capsys, "check", "rules.json", "--expanded", "plain.json")
    assert (code, err) == (0, "")
    for words in ("slope of education", "separates education from age", "interaction education:age"):
        assert words in out
    assert "moment_rules[0] (income ~ education * age)" in out.replace("\n", " ") or "moment_rules[0]" in out
    plain = bo.Problem.read("plain.json")
    assert plain == bo.Problem.read("rules.json")
    assert "moment_rules" not in json.loads(Path("plain.json").read_text())
    assert run(capsys, "check", "plain.json", "--expanded", "plain.json")[0] == 2
    _, out, _ = run(capsys, "check", "plain.json")
    assert "why it is needed" not in out


def test_check_carries_the_origins_in_json(place, capsys):
    Path("rules.json").write_text(json.dumps(RULES))
    _, out, _ = run(capsys, "check", "rules.json", "--json")
    origins = json.loads(out)["origins"]
    assert origins[:2] == [
        {"attributes": ["income", "age"], "source": "moments[0]", "rule": "", "why": "", "weight": 1.0},
        {
            "attributes": ["income", "education"],
            "source": "moment_rules[0]",
            "rule": "income ~ education * age",
            "why": "slope of education",
            "weight": 2.0,
        },
    ]
    assert len(origins) == 5


def test_check_cuts_a_long_expansion_for_people(place, capsys):
    names = [f"x{i}" for i in range(20)]
    attributes = [{"name": name, "categories": 2} for name in names]
    rules = {**RULES, "attributes": attributes, "moments": [], "moment_rules": [{"all_pairs": names}]}
    Path("many.json").write_text(json.dumps(rules))
    _, out, _ = run(capsys, "check", "many.json")
    assert "and 90 more: --json and --expanded have all" in out


def test_a_hostile_formula_in_a_file_runs_nothing(place, capsys):
    hostile = {**RULES, "moment_rules": [{"formula": "Q(open('run', 'w')) ~ age"}]}
    Path("hostile.json").write_text(json.dumps(hostile))
    code, out, err = run(capsys, "check", "hostile.json")
    assert (code, out) == (2, "")
    assert "moment_rules[0].formula" in err
    assert not Path("run").exists()
