"""What one column shows when it is seen alone: by brute force over truths and reports, rounded up."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.accounting.columns import ColumnAlone, column_alone, normalized
from budget_opt.mechanisms.exact import exact
from tests.accounting.meaning_problems import allocation_of, matrix

EPSILONS = st.sampled_from([0.0, 1e-9, 0.01, 0.5, 1.0, 2.5, 8.0, 40.0])


def is_the_least_double_above(said: float, found: Fraction) -> bool:
    return exact(said) >= found and exact(math.nextafter(said, -math.inf)) < found


@st.composite
def columns(draw: st.DrawFn) -> tuple[ColumnAlone, list[list[Fraction]], list[Fraction]]:
    """The figures of one column, its matrix, and the prior that they hold under."""
    r = draw(st.integers(2, 6))
    counts = draw(st.lists(st.integers(0, 9), min_size=r, max_size=r).filter(any))
    one = allocation_of([r, 2], [draw(EPSILONS), 1.0])["a"]
    if draw(st.booleans()):
        counts = [1] * r
        found = column_alone(one, None, "uniform")
    else:
        found = column_alone(one, normalized(counts), "stated")
    prior = [Fraction(count, sum(counts)) for count in counts]
    return found, matrix(one), prior


@given(columns())
@settings(max_examples=60)
def test_every_figure_is_that_of_brute_force_and_is_rounded_up(
    case: tuple[ColumnAlone, list[list[Fraction]], list[Fraction]],
) -> None:
    column, P, prior = case
    r = range(len(prior))
    seen = [sum(prior[x] * P[x][y] for x in r) for y in r]
    true = [prior[y] * P[y][y] / seen[y] for y in r if prior[y]]
    guess = sum((max(prior[x] * P[x][y] for x in r) for y in r), Fraction(0))
    odds = max(P[x][y] / P[w][y] for x in r for w in r for y in r)
    assert is_the_least_double_above(column.believed[0], min(true))
    assert is_the_least_double_above(column.believed[1], max(true))
    assert is_the_least_double_above(column.guess_without, max(prior))
    assert is_the_least_double_above(column.guess_with, guess)
    assert is_the_least_double_above(column.odds_factor, odds)
    assert is_the_least_double_above(column.truth_reported, P[0][0])
    assert column.released == (odds > 1)


@given(st.integers(2, 9), st.sampled_from([0.01, 0.5, 1.0, 3.0]))
@settings(max_examples=15)
def test_under_a_uniform_prior_a_report_is_true_as_often_as_a_truth_is_reported(r: int, e: float) -> None:
    column = column_alone(allocation_of([r, 2], [e, 1.0])["a"], None, "uniform")
    assert column.believed == (column.truth_reported, column.truth_reported)
    assert column.guess_with == column.truth_reported
    assert column.guess_with == pytest.approx(math.exp(e) / (math.exp(e) + r - 1), rel=1e-6)


@given(st.integers(2, 5), st.lists(st.integers(1, 9), min_size=5, max_size=5))
@settings(max_examples=10)
def test_more_epsilon_never_shows_less(r: int, counts: list[int]) -> None:
    epsilons = (0.0, 0.001, 0.3, 1.0, 4.0, 12.0)
    prior = normalized(counts[:r])
    found = [column_alone(allocation_of([r, 2], [e, 1.0])["a"], prior, "stated") for e in epsilons]
    for one, more in itertools.pairwise(found):
        assert one.odds_factor <= more.odds_factor
        assert one.guess_with <= more.guess_with
        assert one.believed[1] <= more.believed[1]
        assert one.guess_without == more.guess_without <= more.guess_with


def test_r36_a_column_that_is_not_released_shows_nothing() -> None:
    column = bo.meaning(allocation_of([3, 2], [0.0, 1.0]), {"a": [1, 2, 7]}).columns[0]
    assert (column.released, column.odds_factor, column.loss) == (False, 1.0, 0.0)
    assert column.guess_with == column.guess_without == 0.7


def test_the_prior_is_the_stated_one_else_the_marginal_else_uniform() -> None:
    problem = bo.Problem(
        total_epsilon=2.0,
        attributes=[
            bo.Attribute("smoker", categories=["no", "yes"], marginal=[0.75, 0.25]),
            bo.Attribute("income", categories=4),
        ],
        moments=[bo.CrossMoment("smoker", "income")],
    )
    allocation = bo.uniform(problem)
    plain = bo.meaning(allocation).columns
    assert [column.prior for column in plain] == ["marginal", "uniform"]
    assert [column.guess_without for column in plain] == [0.75, 0.25]
    stated = bo.meaning(allocation, {"smoker": [1, 1], "income": (0, 0, 30, 10)}).columns
    assert [column.prior for column in stated] == ["stated", "stated"]
    assert [column.guess_without for column in stated] == [0.5, 0.75]


def test_a_million_categories_take_no_list_of_a_million_shares() -> None:
    column = bo.meaning(allocation_of([10**6, 2], [3.0, 1.0])).columns[0]
    assert column.guess_without == 1e-6
    assert column.guess_with == pytest.approx(math.exp(3) / (math.exp(3) + 10**6 - 1), rel=1e-6)


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ({"x": [0.5, 0.5]}, r"priors: 'x' is not an attribute; there are 'a', 'b'"),
        ({"a": [0.5, 0.5]}, r"priors: of 'a' is a list of 2, must be 3 shares"),
        ({"a": "abc"}, r"priors: of 'a' is no list, must be 3 shares"),
        ({"a": [0.5, 0.5, -1]}, "must be numbers >= 0"),
        ({"a": [0.5, 0.5, math.nan]}, "must be numbers >= 0"),
        ({"a": [0.5, 0.5, math.inf]}, "must be numbers >= 0"),
        ({"a": [0, 0, 0]}, "not all of them 0"),
        ({"a": [0.5, 0.5, "x"]}, "must be a number"),
        ({"a": [True, 0.5, 0.5]}, "must be a number"),
        ([0.5], "priors: is a list, must be a Mapping"),
    ],
)
def test_r13_a_prior_that_does_not_fit_is_refused_by_name(priors: object, said: str) -> None:
    with pytest.raises(bo.InputError, match=said):
        bo.meaning(allocation_of([3, 2], [1.0, 1.0]), priors)
