"""The command line: one file between two steps, exit codes of DESIGN 4, JSON on request, clear errors."""

import json
from pathlib import Path

import jsonschema
import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.cli.commands_data import IN_NO_LEDGER
from budget_opt.errors import NotSolvedError

PROBLEM = {
    "format": "budget-opt/problem",
    "version": 1,
    "name": "links",
    "total_epsilon": 4.0,
    "objective": "geometric_mean",
    "attributes": [
        {"name": "smoker", "categories": 2},
        {"name": "income", "categories": 5},
        {"name": "region", "categories": ["north", "south", "east", "west"]},
    ],
    "moments": [
        {"attributes": ["smoker", "income"], "weight": 3.0, "floor": 0.2},
        {"attributes": ["income", "region"]},
    ],
    "dropped": ["person_id"],
}
ROWS = [f"{i},{i % 2},{i % 5},{('north', 'south', 'east', 'west')[i % 4]}" for i in range(400)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a problem, its allocation and a table of 400 rows."""
    monkeypatch.chdir(tmp_path)
    write("problem.json", PROBLEM)
    bo.solve(bo.Problem.read("problem.json")).write("allocation.json")
    Path("data.csv").write_text("person_id,smoker,income,region\n" + "\n".join(ROWS) + "\n")
    Path("public").mkdir()
    return tmp_path


def write(name, document):
    Path(name).write_text(json.dumps(document))


def changed(**fields):
    return {**PROBLEM, **fields}


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_solve_writes_an_allocation_and_prints_its_tables(place, capsys):
    code, out, err = run(capsys, "solve", "problem.json", "-o", "new.json")
    assert (code, err) == (0, "")
    assert "smoker x income" in out
    assert "optimal" in out
    assert bo.Allocation.read("new.json").spent_epsilon == 4.0


def test_solve_takes_another_total_and_objective(place, capsys):
    code, out, _ = run(capsys, "solve", "problem.json", "--epsilon", "6", "--objective", "max_min", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["total_epsilon"] == 6.0
    assert document["objective"]["kind"] == "max_min"


def test_every_json_result_is_strict_json_and_keeps_to_its_schema(place, capsys):
    for document in ("problem", "allocation", "manifest"):
        code, out, _ = run(capsys, "schema", document)
        assert code == 0
        jsonschema.Draft202012Validator.check_schema(json.loads(out))
    _, out, _ = run(capsys, "show", "allocation.json", "--json")
    schema = json.loads(run(capsys, "schema", "allocation")[1])
    jsonschema.validate(json.loads(out), schema)


def test_show_prints_what_solve_printed(place, capsys):
    _, solved, _ = run(capsys, "solve", "problem.json", "-o", "again.json")
    code, shown, _ = run(capsys, "show", "again.json")
    assert code == 0
    # the same, but for what a file only states
    said = shown.partition("What it means")[0].strip()
    stated = "stated: optimal to a relative gap", "\nnot confirmed here: budget-opt verify judges it"
    assert all(text in said for text in stated)
    assert said.replace(stated[0], "optimal, proved to a relative gap").replace(stated[1], "") in solved


def test_check_says_that_the_floors_fit(place, capsys):
    code, out, err = run(capsys, "check", "problem.json")
    assert (code, err) == (0, "")
    assert "floors" in out
    code, out, _ = run(capsys, "check", "problem.json", "--json")
    assert code == 0
    assert json.loads(out)["feasible"] is True


def test_randomize_verifies_shuffles_and_leaves_a_folder_to_pass_on(place, capsys):
    code, out, err = run(
        capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv", "--internal", "inside"
    )
    assert (code, err) == (0, f"{IN_NO_LEDGER}\n")
    assert sorted(path.name for path in Path("public").iterdir()) == [
        "allocation.json",
        "manifest.json",
        "r.csv",
    ]
    assert Path("public/allocation.json").read_bytes() == Path("allocation.json").read_bytes()
    manifest = json.loads(Path("public/manifest.json").read_text())
    schema = json.loads(run(capsys, "schema", "manifest")[1])
    jsonschema.validate(manifest, schema)
    assert manifest["rows"] == 400
    assert manifest["private"] is True
    internal = Path("inside/verification.json").read_text()
    assert internal.lstrip("{ \n").startswith(
        '"notice": "Computed from the originals: outside the guarantee, do not pass on"'
    )
    assert json.loads(internal)["releasable"] is False
    header = Path("public/r.csv").read_text().splitlines()[0]
    assert header.replace('"', "") == "smoker,income,region"
    assert "do not pass on" in out


def test_a_table_without_rows_is_released_and_noted(place, capsys):
    Path("data.csv").write_text("person_id,smoker,income,region\n")
    code, _, err = run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv")
    assert (code, err) == (0, f"{IN_NO_LEDGER}\nnote: the table has no rows\n")


def test_a_second_draw_into_the_same_folder_is_refused(place, capsys):
    assert run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv")[0] == 0
    first = Path("public/r.csv").read_bytes()
    for name in ("public/r.csv", "public/other.csv"):
        code, _, err = run(capsys, "randomize", "allocation.json", "data.csv", "-o", name)
        assert code == 2
        assert "another release" in err
    assert Path("public/r.csv").read_bytes() == first
    assert not Path("public/other.csv").exists()


def test_the_internal_report_is_refused_in_the_folder_that_is_passed_on(place, capsys):
    code, _, err = run(
        capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv", "--internal", "public"
    )
    assert code == 2
    assert "--internal" in err
    assert list(Path("public").iterdir()) == []


def test_verify_and_estimate_read_what_randomize_wrote(place, capsys):
    run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv", "--row-order", "public")
    code, out, err = run(
        capsys,
        *("verify", "allocation.json", "--problem", "problem.json"),
        *("--original", "data.csv", "--released", "public/r.csv"),
    )
    assert (code, err) == (0, "")
    assert "all checks hold" in out
    code, out, _ = run(
        capsys,
        *("estimate", "allocation.json", "public/r.csv", "--moment", "smoker,income", "--moment", "smoker"),
        "--json",
    )
    assert code == 0
    estimates = json.loads(out)
    assert [estimate["attributes"] for estimate in estimates] == [["smoker", "income"], ["smoker"]]
    assert estimates[0]["interval"][0] < estimates[0]["value"] < estimates[0]["interval"][1]


def test_an_estimate_under_another_allocation_than_the_releases_is_refused(place, capsys):
    run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv")
    run(capsys, "solve", "problem.json", "--objective", "max_min", "-o", "other.json")
    code, out, err = run(capsys, "estimate", "other.json", "public/r.csv", "--moment", "smoker,income")
    assert (code, out) == (2, "")
    assert "another allocation" in err
    assert "public/allocation.json" in err
    code, _, err = run(capsys, "estimate", "public/allocation.json", "public/r.csv", "--moment", "smoker")
    assert (code, err) == (0, "")


def test_an_estimate_from_a_table_without_a_manifest_says_so(place, capsys):
    run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv")
    Path("public/r.csv").rename("alone.csv")
    code, _, err = run(capsys, "estimate", "allocation.json", "alone.csv", "--moment", "smoker,income")
    assert code == 0
    assert err.startswith("note: no manifest beside alone.csv")


def test_an_estimate_from_the_originals_is_refused(place, capsys):
    code, out, err = run(capsys, "estimate", "allocation.json", "data.csv", "--moment", "smoker,income")
    assert (code, out) == (2, "")
    assert "'person_id', which the allocation drops" in err


def test_an_estimate_takes_scores_for_categories_without_order(place, capsys):
    run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv")
    moment = ("--moment", "smoker,region")
    code, _, err = run(capsys, "estimate", "allocation.json", "public/r.csv", *moment)
    assert code == 2
    assert "scores" in err
    scores = ("--scores", "region=1,0,0,0")
    assert run(capsys, "estimate", "allocation.json", "public/r.csv", *moment, *scores)[0] == 0


def test_a_shuffled_release_is_not_compared_row_by_row(place, capsys):
    run(capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv")
    pair = ("--original", "data.csv", "--released", "public/r.csv")
    code, _, err = run(capsys, "verify", "allocation.json", *pair)
    assert code == 2
    assert "shuffled" in err


def test_an_internal_report_is_never_overwritten(place, capsys):
    arguments = ("randomize", "allocation.json", "data.csv", "--internal", "inside")
    assert run(capsys, *arguments, "-o", "one/r.csv")[0] == 0
    first = Path("inside/verification.json").read_bytes()
    code, _, err = run(capsys, *arguments, "-o", "two/r.csv")
    assert code == 2
    assert "could not be made again" in err
    assert Path("inside/verification.json").read_bytes() == first
    assert not Path("two").exists()
    assert json.loads(first)["released"] == "r.csv"


def test_solve_replaces_nothing_but_an_allocation(place, capsys):
    for name in ("problem.json", "data.csv"):
        before = Path(name).read_bytes()
        code, _, err = run(capsys, "solve", "problem.json", "-o", name)
        assert code == 2
        assert "not an allocation" in err
        assert Path(name).read_bytes() == before
    assert run(capsys, "solve", "problem.json", "-o", "allocation.json")[0] == 0


def test_an_error_that_nobody_foresaw_shows_no_text_and_no_traceback(place, capsys, monkeypatch):
    def burst(*_args, **_kwargs):
        raise KeyError("canary-value")

    monkeypatch.setattr("budget_opt.cli.commands_problem.solve_problem", burst)
    code, out, err = run(capsys, "solve", "problem.json")
    assert (code, out) == (2, "")
    assert "unexpected KeyError" in err
    assert "canary" not in err


def test_the_original_beside_the_release_is_noticed(place, capsys):
    code, _, err = run(capsys, "randomize", "allocation.json", "data.csv", "-o", "r.csv")
    assert code == 0
    assert "lies in the folder of the release" in err


def test_a_split_that_gives_a_moment_up_says_so_and_releases_no_noise(place, capsys):
    moments = [
        {"attributes": ["smoker", "income"], "weight": 3.0},
        {"attributes": ["income", "region"], "weight": 0.001},
    ]
    write("greedy.json", changed(objective="weighted_sum", moments=moments))
    code, out, _ = run(capsys, "solve", "greedy.json", "-o", "greedy_split.json", "--time-limit", "5")
    assert code == 0
    assert "given up" in out
    assert bo.Allocation.read("greedy_split.json")["region"].epsilon == 0.0


def test_a_release_that_is_not_what_was_promised_exits_with_1(place, capsys):
    copied = [",".join(row.split(",")[1:]) for row in ROWS]
    Path("copy.csv").write_text("smoker,income,region\n" + "\n".join(copied) + "\n")
    code, out, _ = run(
        capsys, "verify", "allocation.json", "--original", "data.csv", "--released", "copy.csv"
    )
    assert code == 1
    assert "FAIL" in out


def test_an_allocation_of_another_problem_exits_with_1(place, capsys):
    write("other.json", changed(total_epsilon=4.5))
    code, out, _ = run(capsys, "verify", "allocation.json", "--problem", "other.json")
    assert code == 1
    assert "made from this problem" in out


def test_check_reports_an_impossible_wish_and_exits_with_3(place, capsys):
    write("hard.json", changed(total_epsilon=1.0))
    code, out, err = run(capsys, "check", "hard.json", "--time-limit", "2")
    assert (code, err) == (3, "")
    assert "infeasible: the floors need a total epsilon of at least " in out
    assert "They conflict in: smoker x income >= 0.2, against total_epsilon 1." in out
    code, out, err = run(capsys, "check", "hard.json", "--json")
    assert (code, err) == (3, "")
    found = json.loads(out)
    assert found["feasible"] is False
    assert found["infeasibility"]["given_up"] == ["smoker x income >= 0.2"]


def test_an_impossible_wish_exits_with_3_and_says_what_would_do(place, capsys):
    write("hard.json", changed(total_epsilon=1.0))
    code, out, err = run(capsys, "solve", "hard.json")
    assert (code, out) == (3, "")
    assert err.startswith("InfeasibleError: the floors need a total epsilon of at least ")
    assert "smoker x income >= 0.2" in err


def test_following_the_advice_of_an_impossible_wish_works(place):
    question = bo.Problem.from_dict(changed(total_epsilon=1.0))
    with pytest.raises(bo.InfeasibleError) as caught:
        bo.solve(question)
    assert bo.solve(question.with_total(caught.value.least_total)).moments[0].keeps_floor


def test_not_solved_within_the_limits_exits_with_4(place, capsys, monkeypatch):
    def give_up(*_args, **_kwargs):
        raise NotSolvedError("no split was found within 1 s. Allow more time.")

    monkeypatch.setattr("budget_opt.cli.commands_problem.solve_problem", give_up)
    code, _, err = run(capsys, "solve", "problem.json")
    assert code == 4
    assert err == "NotSolvedError: no split was found within 1 s. Allow more time.\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("solve", "nowhere.json"), "nowhere.json"),
        (("solve", "problem.json", "--gap", "0"), "gap"),
        (("solve", "problem.json", "--time-limit", "nan"), "--time-limit"),
        (("solve", "problem.json", "--epsilon", "-1"), "total_epsilon"),
        (("solve", "problem.json", "-o", "no/such/folder/a.json"), "no/such/folder"),
        (("show", "problem.json"), "budget-opt/allocation"),
        (("solve", "allocation.json"), "budget-opt/problem"),
        (("randomize", "allocation.json", "nowhere.csv", "-o", "public/r.csv"), "nowhere.csv"),
        (("randomize", "allocation.json", "data.csv", "-o", "public/r.txt"), "r.txt"),
        (("randomize", "allocation.json", "data.csv", "-o", "problem.json/r.csv"), "problem.json"),
        (("randomize", "data.csv", "allocation.json", "-o", "new/r.csv"), "data.csv"),
        (
            ("estimate", "allocation.json", "data.csv", "--moment", "region", "--scores", "region=a"),
            "region=a",
        ),
        (("verify", "allocation.json", "--original", "data.csv"), "--released"),
        (("estimate", "allocation.json", "data.csv", "--moment", "smoker,incme"), "incme"),
        (("estimate", "allocation.json", "data.csv", "--moment", "smoker,income", "--level", "2"), "level"),
        (("demo", "--out", "problem.json"), "problem.json"),
    ],
)
def test_bad_input_exits_with_2_and_names_what_is_wrong(place, capsys, arguments, named):
    before = sorted(path.name for path in place.rglob("*"))
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert named in err
    assert "Traceback" not in err
    assert sorted(path.name for path in place.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments", [("solve",), ("nonsense",), ("solve", "problem.json", "--objective", "best")]
)
def test_a_wrong_call_exits_with_2(place, capsys, arguments):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert err


def test_an_unseen_value_is_counted_and_placed_but_never_told(place, capsys):
    lines = Path("data.csv").read_text().splitlines()
    lines[7] = "6,0,1,canary-value"
    Path("data.csv").write_text("\n".join(lines) + "\n")
    code, out, err = run(
        capsys, "randomize", "allocation.json", "data.csv", "-o", "public/r.csv", "--internal", "inside"
    )
    assert (code, out) == (2, "")
    assert "region" in err
    assert "6" in err
    assert "canary" not in err
    assert list(Path("public").iterdir()) == []
    assert not Path("inside").exists()


def test_a_name_that_looks_like_markup_is_printed_as_it_is(place, capsys):
    attributes = [{"name": "[bold]x[/bold]", "categories": 2}, {"name": "[red]", "categories": 3}]
    moments = [{"attributes": ["[bold]x[/bold]", "[red]"]}]
    write("marked.json", changed(attributes=attributes, moments=moments))
    code, out, _ = run(capsys, "solve", "marked.json")
    assert code == 0
    assert "[bold]x[/bold] x [red]" in out
