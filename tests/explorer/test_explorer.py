"""Sliders and the split that follows them, without a browser: a hand does what setting a value does."""

from __future__ import annotations

import asyncio
import sys
from html import unescape
from itertools import combinations

import pytest

import budget_opt as bo
from budget_opt.explorer import controls, splitting
from budget_opt.explorer.later import Later

CONVEX = ("geometric_mean", "max_min", "min_variance")


def problem_of(objective="geometric_mean", names=("smoker", "income", "region"), **fields):
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=2 + i % 4) for i, name in enumerate(names)],
        moments=[bo.CrossMoment(*pair) for pair in combinations(names, 2)],
        total_epsilon=3,
        objective=objective,
        **fields,
    )


def test_what_is_shown_at_the_start_is_the_best_split_of_the_problem():
    problem = problem_of()
    explorer = bo.explore(problem)
    assert explorer.problem == problem
    assert explorer.allocation.epsilons == pytest.approx(bo.solve(problem).epsilons, abs=1e-4)
    assert "proved" in explorer.status
    assert explorer.figure.startswith(b"\x89PNG")


@pytest.mark.parametrize("objective", CONVEX)
def test_a_slider_gives_the_split_that_solve_gives_the_changed_problem(objective):
    explorer = bo.explore(problem_of(objective))
    explorer.total.value = 5
    explorer.row("income", "smoker").weight.value = 4
    explorer.row("smoker", "region").floor.value = 0.3
    problem = explorer.problem
    assert problem.total_epsilon == 5
    assert [moment.weight for moment in problem.moments] == [4, 1, 1]
    assert [moment.floor for moment in problem.moments] == [None, 0.3, None]
    best = bo.solve(problem)
    assert explorer.allocation.objective.value == pytest.approx(best.objective.value, rel=1e-3)
    assert explorer.allocation.retention("smoker", "region") >= 0.3


def test_what_a_slider_sends_is_the_decimal_that_it_shows():
    explorer = bo.explore(problem_of())
    explorer.total.value = 5.8999999999999995
    assert explorer.problem.total_epsilon == 5.9
    explorer.row("smoker", "income").floor.value = 0.1 + 0.2
    assert explorer.problem.moments[0].floor == 0.3


def test_a_floor_that_is_moved_to_zero_is_none():
    problem = problem_of()
    explorer = bo.explore(problem)
    floor = explorer.row("smoker", "income").floor
    floor.value = 0.3
    assert explorer.problem.moments[0].floor == 0.3
    floor.value = 0
    assert explorer.why is None
    assert explorer.problem.moments[0].floor is None


def test_figure_and_table_follow_a_slider():
    explorer = bo.explore(problem_of())
    figure, table = explorer.figure, explorer.table
    explorer.total.value = 4
    assert explorer.figure != figure
    assert explorer.table != table
    kept = explorer.allocation.retention("smoker", "income")
    assert f"{100 * kept:.1f} %" in explorer.table


def test_n_changes_the_expected_errors_and_nothing_else():
    explorer = bo.explore(problem_of(), n=1000)
    before = explorer.allocation
    table = explorer.table
    explorer.records.value = 100_000
    assert explorer.allocation is before
    assert "n = 1,000<" in table
    assert "n = 100,000<" in explorer.table


def test_a_wish_that_cannot_be_met_keeps_the_last_split_and_says_what_would_do():
    explorer = bo.explore(problem_of())
    explorer.row("smoker", "income").floor.value = 0.2
    possible, figure = explorer.allocation, explorer.figure
    explorer.row("smoker", "region").floor.value = 0.95
    assert explorer.last_possible is possible
    assert explorer.figure != figure  # faded
    assert isinstance(explorer.why, bo.InfeasibleError)
    assert "not possible" in explorer.status
    assert "the last split that was possible" in explorer.status
    assert f"Raise total_epsilon to {explorer.why.least_total:.4g}"[:24] in explorer.status
    explorer.total.value = explorer.why.least_total * 1.001
    assert explorer.why is None
    assert explorer.allocation.retention("smoker", "region") >= 0.95


def test_the_largest_floor_that_is_named_is_possible_and_a_little_more_is_not():
    explorer = bo.explore(problem_of())
    floor = explorer.row("smoker", "region").floor
    floor.value = 0.95
    (words,) = [line for line in explorer.status.split("<br>") if "at most" in line]
    largest = float(words.split("can be ")[1].split(" %")[0]) / 100
    floor.value = largest
    assert explorer.why is None
    floor.value = largest + 0.002
    assert isinstance(explorer.why, bo.InfeasibleError)


def test_weights_that_make_no_problem_are_told_and_give_neither_problem_nor_split_nor_python():
    explorer = bo.explore(problem_of())
    explorer.total.value = 2
    for pair in combinations(("smoker", "income", "region"), 2):
        explorer.row(*pair).weight.value = 0
    assert isinstance(explorer.why, bo.ProblemError)
    for ask in (lambda: explorer.problem, lambda: explorer.allocation, lambda: explorer.code, explorer.prove):
        with pytest.raises(bo.ProblemError, match="weight above 0"):
            ask()
    assert "weight above 0" in explorer.status
    assert explorer.last_possible.total_epsilon == 2


def test_a_problem_that_is_impossible_from_the_start_shows_the_even_split():
    problem = problem_of().with_fields(moments=[bo.CrossMoment("smoker", "income", floor=0.99)])
    explorer = bo.explore(problem)
    assert isinstance(explorer.why, bo.InfeasibleError)
    assert "the even split" in explorer.status
    for ask in (lambda: explorer.allocation, lambda: explorer.last_possible, explorer.prove):
        with pytest.raises(bo.InfeasibleError):
            ask()
    explorer.row("smoker", "income").floor.value = 0.2
    assert explorer.why is None


def test_a_split_without_a_proof_says_so_until_it_is_proved():
    explorer = bo.explore(problem_of("weighted_sum"))
    explorer.total.value = 3.5
    if explorer.allocation.objective.status != "optimal":
        assert "not proved yet" in explorer.status
    proved = explorer.prove()
    assert explorer.allocation is proved
    assert proved.objective.status == "optimal"
    assert "<b>proved</b>" in explorer.status
    assert proved.total_epsilon == 3.5


def asks(explorer):
    """All that gives a split of the sliders."""
    return (explorer.prove, lambda: explorer.allocation)


@pytest.mark.parametrize("before", [8, 16])
def test_no_split_of_another_total_is_given_where_the_sliders_have_none(before):
    problem = problem_of().with_fields(
        moments=[bo.CrossMoment("smoker", "income", floor=0.5)], total_epsilon=8
    )
    explorer = bo.explore(problem)
    explorer.total.value = before
    explorer.total.value = 3
    assert explorer.problem.total_epsilon == 3
    explorer.records.value = 500  # moves the table, not the split
    for ask in asks(explorer):
        with pytest.raises(bo.InfeasibleError, match="the problem allows 3"):
            ask()
    assert explorer.last_possible.total_epsilon == before
    shown = explorer.status
    press(explorer, "prove")
    assert explorer.status == shown
    assert "not possible" in shown


def press(explorer, words):
    """Click the button with these words."""
    places = [explorer.widget]
    while places:
        place = places.pop()
        if getattr(place, "description", "") == words:
            place.click()
            return
        places.extend(getattr(place, "children", ()))
    raise AssertionError(words)


def test_no_split_of_the_place_before_is_given_while_a_step_is_pending():
    async def cell(ask):
        explorer = bo.explore(problem_of())
        explorer.row("smoker", "income").floor.value = 0.3
        assert explorer.allocation.total_epsilon == 3
        explorer.total.value = 1
        with pytest.raises(bo.InfeasibleError, match="the problem allows 1"):
            ask(explorer)

    asyncio.run(cell(lambda explorer: explorer.allocation))
    asyncio.run(cell(lambda explorer: explorer.prove()))


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt])
def test_a_step_that_is_cut_short_leaves_no_split_of_the_place_before(monkeypatch, failure):
    explorer = bo.explore(problem_of())

    def fail(*_, **__):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(splitting, "quick_split", fail)
        with pytest.raises(failure):
            explorer.total.value = 2
    assert "no split" in explorer.status
    assert explorer.problem.total_epsilon == 2
    assert explorer.last_possible.total_epsilon == 3
    with pytest.raises(bo.NotSolvedError, match="cut short"):
        _ = explorer.allocation
    assert explorer.prove().total_epsilon == 2
    assert "<b>proved</b>" in explorer.status


@pytest.mark.parametrize("failure", [bo.NotSolvedError("no answer in time"), ZeroDivisionError("broken")])
def test_a_proof_that_fails_says_so_and_keeps_the_split_of_the_same_problem(monkeypatch, failure):
    explorer = bo.explore(problem_of("weighted_sum"))
    explorer.total.value = 2
    quick = explorer.allocation

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(splitting, "solve", fail)
    with pytest.raises(type(failure)):
        explorer.prove()
    assert explorer.allocation is quick
    assert quick.total_epsilon == 2
    assert "<b>proving</b>" not in explorer.status
    if isinstance(failure, bo.NotSolvedError):
        press(explorer, "prove")
        assert "no answer in time" in explorer.status


def test_a_proof_at_its_time_limit_is_of_the_problem_of_the_sliders_and_not_called_proved():
    explorer = bo.explore(problem_of("weighted_sum", names="abcdefghijkl"))
    explorer.total.value = 2
    explorer.row("a", "b").weight.value = 3
    found = explorer.prove(time_limit=1e-6)
    assert found is explorer.allocation
    assert (found.total_epsilon, found.moments[0].weight) == (2, 3)
    assert found.objective.status == "feasible"
    assert "not proved yet" in explorer.status


def test_a_slider_that_moves_during_a_proof_does_not_get_the_proved_split(monkeypatch):
    explorer = bo.explore(problem_of())

    def moving(problem, **_):
        explorer.total.value = 2
        return bo.solve(problem)

    monkeypatch.setattr(splitting, "solve", moving)
    with pytest.raises(bo.NotSolvedError, match="moved"):
        explorer.prove()
    assert explorer.allocation.total_epsilon == 2


def test_the_python_that_is_shown_makes_the_problem_of_the_sliders():
    explorer = bo.explore(problem_of())
    explorer.row("smoker", "income").weight.value = 2.5
    explorer.row("income", "region").floor.value = 0.12
    names: dict[str, object] = {}
    exec(explorer.code.replace("print(allocation)\n", ""), names)
    assert names["problem"] == explorer.problem


def test_starting_again_puts_every_slider_back():
    problem = problem_of()
    explorer = bo.explore(problem)
    explorer.total.value = 7
    explorer.row("smoker", "income").weight.value = 9
    explorer.records.value = 500
    explorer.reset()
    assert explorer.records.value == 10_000
    assert explorer.problem == problem
    assert (explorer.total.value, explorer.row("smoker", "income").weight.value) == (3, 1)


def test_of_many_moments_some_have_sliders_and_any_other_can_be_chosen(monkeypatch):
    monkeypatch.setattr(controls, "MOST_ROWS", 3)
    monkeypatch.setattr(controls, "FIRST_ROWS", 2)
    problem = problem_of(names=("a", "b", "c", "d"))
    explorer = bo.explore(problem)
    assert len(explorer._box.children) == 2
    explorer.row("a", "b").weight.value = 3.5
    for k in range(2, 6):
        explorer.moment.value = k
    assert len(explorer._box.children) == 3
    explorer.row("c", "d").weight.value = 5
    assert [moment.weight for moment in explorer.problem.moments] == [3.5, 1, 1, 1, 1, 5]
    # its sliders come back into view where they were left
    assert explorer.row("a", "b").weight.value == 3.5


def test_hostile_names_are_text_wherever_they_stand():
    names = ("<img src=x onerror=alert(1)>", "$\\frac{x}$", '"&amp;')
    explorer = bo.explore(problem_of(names=names))
    explorer.row(*names[:2]).floor.value = 0.99
    pages = [explorer.table, explorer.status, *(row.children[0].value for row in explorer._box.children)]
    assert all("<img" not in page for page in pages)
    assert names[0] in unescape(explorer.status)
    assert f"{names[1]} x {names[2]}" in unescape(explorer.table)


def test_a_problem_without_a_total_has_no_slider_for_it():
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=3)],
        moments=[bo.CrossMoment("a", "b", floor=0.2)],
        objective="min_epsilon",
    )
    explorer = bo.explore(problem)
    assert explorer.total is None
    explorer.row("a", "b").floor.value = 0.4
    assert explorer.allocation.retention("a", "b") >= 0.4


def test_no_figure_of_the_explorer_stays_open():
    import matplotlib.pyplot as plt

    explorer = bo.explore(problem_of())
    explorer.total.value = 4
    assert plt.get_fignums() == []


def test_while_a_slider_is_dragged_only_its_last_place_is_computed():
    places = []

    async def drag():
        later = Later(lambda: places.append("computed"), pause=0.01)
        for _ in range(20):
            later.request()
        assert places == []
        await asyncio.sleep(0.05)

    asyncio.run(drag())
    assert places == ["computed"]


def test_reading_the_split_in_the_same_cell_does_not_wait_for_the_pause():
    async def cell():
        explorer = bo.explore(problem_of())
        explorer.total.value = 4
        return explorer.allocation.total_epsilon

    assert asyncio.run(cell()) == 4


def test_without_ipywidgets_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(bo.InputError, match=r"budget-opt\[notebooks\]"):
        bo.explore(problem_of())


@pytest.mark.parametrize("n", [0, 10**9, "many", True])
def test_a_number_of_records_that_is_none_is_refused(n):
    with pytest.raises(bo.InputError, match="n: is"):
        bo.explore(problem_of(), n=n)


def test_a_moment_that_is_not_there_is_named():
    with pytest.raises(bo.InputError, match="age x sex"):
        bo.explore(problem_of()).row("age", "sex")


def test_a_cluster_follows_the_sliders_as_one():
    explorer = bo.explore(problem_of(clusters=[["smoker", "income"]]))
    explorer.total.value = 5
    explorer.row("smoker", "region").floor.value = 0.4
    problem = explorer.problem
    assert problem.clusters == (("smoker", "income"),)
    assert [block.name for block in explorer.allocation.blocks] == ["smoker + income", "region"]
    best = bo.solve(problem)
    assert explorer.allocation.objective.value == pytest.approx(best.objective.value, rel=1e-3)
    assert explorer.allocation.retention("smoker", "region") >= 0.4
    assert explorer.figure.startswith(b"\x89PNG")
    explorer.row("smoker", "region").floor.value = 0.95
    assert "smoker x region" in unescape(explorer.status)


def test_retentions_that_count_merging_are_called_so():
    problem = problem_of()
    assert "with merging" not in bo.explore(problem).table
    merged = problem.with_grouping("region", [[0, 1], [2, 3]])
    assert "retention (with merging)" in bo.explore(merged).table
