"""What is said of a grid that is too coarse, of one for which the time was short, and of its step."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.api.wording import listed
from budget_opt.cli import commands_problem as commands
from budget_opt.cli import main
from budget_opt.model.arrays import Objective
from budget_opt.solvers.grid.method import GridAnswer, GridTask
from tests.api.grid_problem import problem


@pytest.mark.parametrize("objective", ["geometric_mean", "max_min", "min_variance"])
def test_a_grid_on_which_every_split_is_worth_nothing_says_so_and_names_one_that_is_not(
    objective: Objective,
) -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abcd"],
        moments=[bo.CrossMoment(*pair) for pair in ("ab", "bc", "cd")],
        total_epsilon=3.0,
        objective=objective,
    )
    best = bo.solve(question)
    found = bo.rounded(best, 1)
    worth = "an infinite variance" if objective == "min_variance" else f"{objective} 0"
    assert found.sentence.startswith(f"The grid of 1 is too coarse: every split on it has {worth}. ")
    assert found.given_up
    assert f"This one gives up {listed(found.given_up)}; with a step of 0.5 nothing" in found.sentence
    finer = bo.rounded(best, found.finer or 0.0)
    assert finer.given_up == ()
    assert finer.finer is None
    assert "gives up" not in finer.sentence


def test_a_grid_that_gives_up_a_moment_of_a_sum_names_it() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abcd"],
        moments=[
            bo.CrossMoment("a", "b", weight=5.0),
            bo.CrossMoment("b", "c"),
            bo.CrossMoment("c", "d", floor=0.01),
        ],
        total_epsilon=6.0,
    )
    found = bo.rounded(bo.solve(question), 2)
    assert found.sentence.endswith(" It gives up a x b; with a step of 1 nothing is given up.")
    assert found.to_dict()["given_up"] == ["a x b"]


def test_a_split_comes_back_even_where_the_time_is_over_at_once() -> None:
    """Every rounding down is a split where there are no floors, and moves are judged a block at a time."""
    names = [f"a{i}" for i in range(60)]
    for objective in ("max_min", "geometric_mean", "min_variance"):
        question = bo.Problem(
            attributes=[bo.Attribute(name, categories=2 + i % 5) for i, name in enumerate(names)],
            moments=bo.all_pairs(names),
            total_epsilon=90.0,
            objective=objective,
        )
        best = bo.solve(question)
        found = bo.rounded(best, 0.25, time_limit=1e-3)
        assert bo.judge(question, found.allocation, quick=True).keeps_all
        assert found.allocation.objective.value
        assert not found.is_best


def test_no_finer_step_is_named_where_the_time_was_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks: list[GridTask] = []

    def out_of_time(task: GridTask) -> GridAnswer:
        tasks.append(task)
        return GridAnswer(None, None, complete=False, nodes=0)

    monkeypatch.setattr("budget_opt.solvers.grid.method.solve", out_of_time)
    with pytest.raises(bo.NotSolvedError, match="Allow more time") as caught:
        bo.rounded(bo.solve(problem()), 0.1)
    assert "finer" not in str(caught.value)
    assert len(tasks) == 1


def test_a_judged_split_is_compared_with_the_best_one_off_the_grid() -> None:
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=bo.all_pairs(list("abc")),
        total_epsilon=3.0,
        objective="geometric_mean",
    )
    judged = bo.judge(question, {"a": 0.1, "b": 0.4, "c": 2.5}).allocation
    assert judged.objective.status == "feasible"
    found = bo.rounded(judged, 0.7, question)
    assert found.unrounded.objective.status == "optimal"
    assert found.loss is not None
    assert found.loss > 0
    assert "costs nothing" not in found.sentence


def test_a_step_is_checked_before_anything_is_solved_and_said_in_its_own_digits(
    tmp_path, monkeypatch, capsys
):
    question = bo.Problem(
        attributes=[bo.Attribute(name, categories=3) for name in "ab"],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=13.0,
        objective="geometric_mean",
    )
    question.write(tmp_path / "p.json")
    found = bo.rounded(bo.solve(question), 6.0000001)
    assert found.allocation.objective.solver == "grid of 6.0000001"
    monkeypatch.setattr(commands, "solve_problem", lambda *_, **__: pytest.fail("solved first"))
    assert main(["solve", str(tmp_path / "p.json"), "--step", "1e-9"]) == 2
    assert "--step" in capsys.readouterr().err
