"""`budget-opt whatif`: values as people type them, table, figure, marks in words, Ctrl-C."""

import csv
import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.cli import commands_whatif, main
from budget_opt.cli.ranges import values_of
from budget_opt.errors import InputError


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a problem whose floor needs a total of about 1.6."""
    monkeypatch.chdir(tmp_path)
    bo.Problem(
        attributes=[
            bo.Attribute("smoker", categories=2),
            bo.Attribute("income", categories=5),
            bo.Attribute("region", categories=4),
        ],
        moments=[
            bo.CrossMoment("smoker", "income", weight=3.0, floor=0.2),
            bo.CrossMoment("income", "region"),
        ],
        total_epsilon=4.0,
        objective="geometric_mean",
    ).write("problem.json")
    return tmp_path


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1:2:11", [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2]),
        ("0.1:0.3:3", [0.1, 0.2, 0.3]),
        ("5:1:3", [5, 3, 1]),
        ("1,2.5, 4", [1, 2.5, 4]),
        ("1e3", [1000]),
    ],
)
def test_values_are_the_decimals_that_people_mean(text, values):
    assert values_of(text, "--epsilon") == values


@pytest.mark.parametrize(
    "text", ["", "1:2", "1:2:1", "1:2:x", "a", "1,,2", "1:inf:3", "1:2:3:4", "1:2:99999"]
)
def test_values_that_cannot_be_read_name_the_option(text):
    with pytest.raises(InputError, match="--floor"):
        values_of(text, "--floor")


def test_totals_become_a_table_a_figure_and_marks_in_words(place, capsys):
    code, said, noted = run(
        capsys, "whatif", "problem.json", "--epsilon", "1:5:5", "-o", "f.csv", "--figure", "f.svg"
    )
    assert (code, noted) == (0, "")
    assert "\nfloors can be met from a total of" in said
    assert "infeasible" in said
    assert "written: f.csv" in said
    with Path("f.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["total_epsilon"]) for row in rows] == [1, 2, 3, 4, 5]
    alone = bo.solve(bo.Problem.read("problem.json"))
    assert float(rows[3]["value"]) == pytest.approx(alone.objective.value, rel=1e-6)
    assert "<svg" in Path("f.svg").read_text()


def test_json_has_all_points_and_nothing_else_is_printed(place, capsys):
    code, said, _ = run(
        capsys, "whatif", "problem.json", "--moment", "income, smoker", "--floor", "0,0.4", "--json"
    )
    document = json.loads(said)
    assert code == 0
    assert document["varied"] == "floor of smoker x income"
    assert [point["floor"] for point in document["points"]] == [0, 0.4]


def test_one_n_beside_an_axis_adds_errors_and_several_are_an_axis(place, capsys):
    beside = json.loads(run(capsys, "whatif", "problem.json", "--epsilon", "4", "--n", "500", "--json")[1])
    over = json.loads(run(capsys, "whatif", "problem.json", "--n", "500,5000", "--json")[1])
    key = "relative error smoker x income"
    assert beside["points"][0][key] == pytest.approx(over["points"][0][key], rel=1e-6)
    assert [point["n"] for point in over["points"]] == [500, 5000]


def test_ctrl_c_writes_the_points_that_are_done(place, capsys, monkeypatch):
    def stopped(*given, **named):
        def stop(report):
            if report.done == 3:
                raise KeyboardInterrupt

        return bo.frontier(*given, **{**named, "progress": stop})

    monkeypatch.setattr(commands_whatif, "solve_frontier", stopped)
    code, said, noted = run(capsys, "whatif", "problem.json", "--epsilon", "2:9:8", "-o", "f.csv")
    assert code == 130
    assert noted.count("interrupted") == 1
    assert "points are kept" in noted
    assert "ended early" in said
    with Path("f.csv").open() as file:
        assert 3 <= len(list(csv.DictReader(file))) < 8


def test_where_no_point_is_possible_the_exit_code_says_so(place, capsys):
    code, said, noted = run(capsys, "whatif", "problem.json", "--epsilon", "0.5,1", "--figure", "f.png")
    assert code == 3
    assert "infeasible" in said
    assert "not drawn" in noted
    assert not Path("f.png").exists()


def test_a_time_limit_that_leaves_points_out_has_its_own_exit_code(place, capsys):
    code, _, noted = run(capsys, "whatif", "problem.json", "--epsilon", "2:9:8", "--time-limit", "1e-6")
    assert code == 4
    assert "time limit" in noted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "one of --epsilon, --weight, --floor and --n is varied"),
        (["--epsilon", "1", "-o", "f.txt"], "must end in .csv"),
        (["--epsilon", "1", "-o", "data.csv"], "is not a frontier over total_epsilon"),
        (["--epsilon", "1", "--figure", "f.gif"], "must end in .svg"),
        (["--epsilon", "1", "--figure", "nowhere/f.svg"], "is not a folder"),
        (["--epsilon", "one"], "--epsilon: is 'one'"),
        (["--weight", "1"], "--moment: is missing, must name the attributes of the moment whose weight"),
        (["--epsilon", "1", "--n", "5,6"], "--epsilon and --n were given"),
        (["--epsilon", "0"], "InputError: --epsilon: holds 0"),
        (["--epsilon", "1", "--gap", "0"], "InputError: --gap: is 0"),
        (["--epsilon", "1", "--time-limit", "-1"], "InputError: --time-limit: is -1"),
        (["--moment", "smoker,sex", "--floor", "0.1"], "InputError: --moment: smoker x sex"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_solved(place, capsys, options, said):
    Path("data.csv").write_text("smoker\n1\n")
    code, printed, noted = run(capsys, "whatif", "problem.json", *options)
    assert (code, printed) == (2, "")
    assert said in noted
    assert Path("data.csv").read_text() == "smoker\n1\n"
