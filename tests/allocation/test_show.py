"""An allocation as text: it fits the page, says what is missed, and no name can style it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import budget_opt as bo
from budget_opt.allocation import Allocation, Statement, allocate, document, uniform
from budget_opt.allocation.show import as_text, headline, lost_sentences, outcome_sentence
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.tables.printing import WIDTH, percent
from tests.strategies import problems


def allocation_of(*moments: CrossMoment, epsilon: tuple[float, ...] = (1.0, 2.0, 0.0)) -> Allocation:
    problem = Problem(
        name="health survey",
        attributes=[
            Attribute("smoker", categories=2),
            Attribute("income", categories=5, marginal=[0.2] * 5),
            Attribute("region", categories=["north", "south", "east"]),
        ],
        moments=moments or [CrossMoment("smoker", "income")],
        total_epsilon=4.0,
    )
    return allocate(problem, np.array(epsilon), Statement())


def row(text: str, name: str) -> str:
    return next(line.strip() for line in text.splitlines() if line.strip().startswith(name))


@given(problems())
@settings(max_examples=12)
def test_every_line_fits_a_hundred_columns_and_every_name_is_there(problem: Problem) -> None:
    text = str(uniform(problem))
    assert max(map(len, text.splitlines())) <= WIDTH == 100
    for name in problem.names:
        assert row(text, name)


def test_long_names_and_extreme_numbers_are_folded_into_the_page() -> None:
    names = ["a" * 150, "b" * 150]
    problem = Problem(
        name="n" * 300,
        attributes=[Attribute(names[0], categories=1_000_000), Attribute(names[1], categories=2)],
        moments=[CrossMoment(*names, weight=1.23456789e-99, floor=0.123456789, ceiling=0.987654321)],
        total_epsilon=1234.56789,
    )
    text = str(uniform(problem))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "".join(line.split()[0] for line in text.splitlines() if line.strip()).count("a") > 150


def test_attributes_show_epsilon_retention_and_how_often_the_truth_is_reported() -> None:
    text = str(allocation_of())
    assert text.startswith("health survey: epsilon 3 of 4 a record, loss 3")
    assert row(text, "smoker").split() == ["smoker", "2", "1", "46.2", "%", "73.2", "%"]
    assert row(text, "income").split() == ["income", "5", "2", "56.1", "%", "64.9", "%"]
    assert row(text, "region").split() == ["region", "3", "0", "0", "%", "not", "released"]


def test_moments_show_weight_retention_bounds_and_inflation() -> None:
    text = str(allocation_of(CrossMoment("smoker", "income", weight=2.5)))
    assert row(text, "smoker x income").split() == ["smoker", "x", "income", "2.5", "25.9", "%", "-", "14.88"]
    assert "(stated and uniform" in text
    mixed = str(allocation_of(CrossMoment("smoker"), CrossMoment("income")))
    assert "uniform marginals" in row(mixed[mixed.index("moment") :], "smoker")
    assert "stated marginals" in row(mixed[mixed.index("moment") :], "income")


def test_missed_floors_and_exceeded_ceilings_are_said() -> None:
    kept = str(allocation_of(CrossMoment("smoker", "income", floor=0.2, ceiling=0.3)))
    assert ">= 20.0 %, <= 30.0 %" in row(kept, "smoker x income")
    assert "missed" not in kept
    assert "exceeded" not in kept
    low = str(allocation_of(CrossMoment("smoker", "income", floor=0.3)))
    assert ">= 30.0 % missed" in row(low, "smoker x income")
    high = str(allocation_of(CrossMoment("smoker", "income", ceiling=0.2)))
    assert "<= 20.0 % exceeded" in row(high, "smoker x income")


def test_a_moment_that_is_not_released_has_no_inflation() -> None:
    text = str(allocation_of(CrossMoment("smoker", "region")))
    assert row(text, "smoker x region").split()[-2:] == ["-", "-"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "no bound: this split was given, not optimized"),
        (
            {"bound": 0.25, "relative_gap": 8.1e-8, "status": "optimal", "solver": "x", "seconds": 0.5},
            "bound 0.25\noptimal, proved to a relative gap of 8.1e-08 (x, 0.5 s)",
        ),
        (
            {"bound": 0.5, "relative_gap": 0.25, "status": "feasible", "solver": "x", "seconds": 0.5},
            "bound 0.5\nfeasible; the proved bound leaves a relative gap of 0.25 (x, 0.5 s)",
        ),
        (
            {"bound": 0.5, "relative_gap": None, "status": "feasible", "value": 0.0},
            "weighted_sum 0, bound 0.5\nfeasible; the proved bound leaves a relative gap of undefined",
        ),
        ({"value": None}, "weighted_sum undefined; no bound"),
    ],
)
def test_the_last_lines_say_what_is_proved(changes: dict[str, object], words: str) -> None:
    """A limit that was hit is never called ok (DESIGN rule 5)."""
    outcome = replace(allocation_of().objective, **changes)
    assert words in outcome_sentence(outcome)


def test_what_was_read_from_a_file_is_stated_and_not_proved() -> None:
    best = bo.solve(allocation_of(CrossMoment("smoker", "income")).question)
    assert "optimal, proved to a relative gap of" in str(best)
    read = document.allocation_of(best.to_dict())
    assert read == best
    assert "proved" not in str(read)
    assert "stated: optimal to a relative gap of" in str(read)
    assert "not confirmed here: budget-opt verify judges it" in str(read)


def test_an_epsilon_too_small_for_a_sampler_is_not_shown_as_none() -> None:
    attributes = [Attribute("tiny", categories=2), Attribute("zero", categories=2)]
    problem = Problem(attributes=attributes, moments=[CrossMoment("tiny", "zero")], total_epsilon=1.0)
    text = str(bo.allocation_from(problem, {"tiny": 1e-300, "zero": 0.0}))
    assert row(text, "tiny").split() == ["tiny", "2", "1e-300", "0", "%", "not", "released"]
    assert row(text, "zero").split() == ["zero", "2", "0", "0", "%", "not", "released"]


def test_a_name_cannot_style_the_page() -> None:
    problem = Problem(
        name="[bold red]x[/]",
        attributes=[Attribute("[red]a[/red]", categories=2)],
        moments=[CrossMoment("[red]a[/red]")],
        total_epsilon=1.0,
    )
    text = str(uniform(problem))
    assert "[bold red]x[/]" in text
    assert text.count("[red]a[/red]") == 2


def test_a_problem_without_a_total_or_a_name_has_a_headline_too() -> None:
    problem = Problem(
        attributes=[Attribute("a", categories=2)],
        moments=[CrossMoment("a", floor=0.5)],
        objective="min_epsilon",
    )
    assert headline(uniform(problem)).startswith("allocation: epsilon 1.09861 a record, loss 1.0986")


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0 %"),
        (0.378, "37.8 %"),
        (0.09, "9.0 %"),
        (0.0076, "0.76 %"),
        (0.009, "0.9 %"),
        (1.2e-5, "0.0012 %"),
        (2.1e-6, "0.00021 %"),
        (2.1e-8, "2.1e-06 %"),
        (0.99999, "100.0 %"),
    ],
)
def test_shares_are_shown_as_people_say_them(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_a_narrow_page_is_kept_too() -> None:
    assert max(map(len, as_text(allocation_of(), width=60).splitlines())) <= 60


def test_a_printed_allocation_is_text_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich would draw on the page instead of writing to the text."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "epsilon" in str(uniform(plain_problem()))


def plain_problem() -> Problem:
    return Problem(attributes=[Attribute("a", categories=2)], moments=[CrossMoment("a")], total_epsilon=1.0)


def test_prices_are_shown_the_dearest_first_and_only_of_what_binds() -> None:
    names = [f"region{i}" for i in range(8)]
    made = allocation_of(
        CrossMoment("smoker", "income", floor=0.1), CrossMoment("income", "region", ceiling=0.9)
    )
    first, second = made.moments
    priced = replace(
        made,
        moments=(replace(first, floor_price=-0.5), replace(second, ceiling_price=0.0)),
        sensitivity={"total_epsilon": 0.25, **{name: float(i) for i, name in enumerate(names)}},
    )
    text = str(priced)
    assert "value per nat more: region7 +7, region6 +6, region5 +5, region4 +4, region3 +3\n" in text
    assert "value per 1 % more of a floor: smoker x income -0.005" in text
    assert "per 1 % more of a ceiling" not in text
    assert "per nat more" not in str(made)


def test_levels_are_shown_with_what_is_proved_of_them() -> None:
    made = allocation_of(CrossMoment("smoker", "income"), CrossMoment("income", "region", level=2, weight=3))
    assert row(str(made), "moment").endswith("level")
    assert row(str(made), "income x region").endswith("2")
    assert row(str(made), "level 2") == "level 2: weighted_sum 0"
    first, second = made.levels
    proved = replace(made, levels=(first, replace(second, bound=0.125)))
    assert row(str(proved), "level 2").endswith(
        "no split that does as well on the levels before gets above 0.125"
    )
    assert "level" not in str(allocation_of())


@pytest.mark.parametrize("width", [80, 100])
def test_no_number_of_a_moment_with_everything_is_cut(width: int) -> None:
    long = "number of cigarettes"
    problem = Problem(
        attributes=[Attribute(long, categories=2), Attribute("household income", categories=5)],
        moments=[
            CrossMoment(long, "household income", weight=1.23456, floor=0.001, ceiling=0.12),
            CrossMoment(long, level=2),
        ],
        total_epsilon=2.0,
    )
    text = as_text(uniform(problem), width)
    assert max(map(len, text.splitlines())) <= width
    for cell in ("1.23456", ">= 0.1 %, <= 12.0 %", "46.2 %", "level"):
        assert any(cell in line for line in text.splitlines())
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


def test_moments_that_are_given_up_are_counted_and_not_all_named() -> None:
    (one,) = lost_sentences(allocation_of(CrossMoment("smoker", "region")))
    assert one == (
        "given up, nothing of it survives: smoker x region. "
        "A floor, an epsilon_min, or the objective geometric_mean would keep it."
    )
    (two,) = lost_sentences(allocation_of(CrossMoment("smoker", "region"), CrossMoment("region")))
    assert two.startswith("given up, nothing of them survives: smoker x region, region. ")
    assert two.endswith("would keep them.")
    names = [f"a{i}" for i in range(30)]
    problem = Problem(
        attributes=[Attribute(name, categories=2) for name in names],
        moments=[CrossMoment(name) for name in names],
        total_epsilon=1.0,
    )
    (many,) = lost_sentences(allocate(problem, np.zeros(30), Statement()))
    assert "a11 and 18 more. " in many
    assert "a12" not in many


def test_a_minimized_level_is_proved_from_below() -> None:
    made = allocation_of(CrossMoment("smoker", "income"), CrossMoment("income", level=2))
    objective = replace(made.objective, kind="min_variance")
    first, second = made.levels
    proved = replace(made, objective=objective, levels=(first, replace(second, bound=12.5)))
    assert "no split that does as well on the levels before falls below 12.5" in " ".join(str(proved).split())


def test_a_distortion_that_holds_an_epsilon_up_is_named() -> None:
    def split(distortion: float) -> str:
        held = bo.Attribute("town", categories=4, distortion_max=distortion)
        pair = [bo.CrossMoment("income", "smoker"), bo.CrossMoment("town", weight=1e-3)]
        attributes = [held, bo.Attribute("income", categories=5), bo.Attribute("smoker", categories=2)]
        return str(bo.solve(bo.Problem(attributes=attributes, moments=pair, total_epsilon=6.0)))

    assert "distortion_max 0.2 of town holds the epsilon of town up at 2.485" in " ".join(split(0.2).split())
    assert "distortion_max" not in split(0.75)
