"""Every budget, group, bound and pin is kept exactly, as decimals (DESIGN 2.7), whatever a solver says."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from budget_opt.allocation.rounding import DIGITS, UNSPENT, even, fitted, tidied
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.arrays import TOTAL, Arrays
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, Group
from budget_opt.model.objectives import log_retentions
from budget_opt.model.problem import Problem
from tests.strategies import problems

FloatArray = npt.NDArray[np.float64]
MANY = settings(max_examples=300, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=30)


@st.composite
def candidates(draw: st.DrawFn) -> tuple[Problem, FloatArray]:
    """A problem and what a solver may answer: anything finite, or the even split and a hair more or less."""
    problem = draw(problems())
    count = len(problem.attributes)
    if draw(st.booleans()):
        hair = st.sampled_from((0.0, 1e-16, 2e-16, 1e-15, 1e-13, 1e-12, 1e-9, 1e-6, -1e-16, -1e-9))
        shares = [1 + draw(hair) for _ in range(count)]
        return problem, np.array(shares) * even(problem.arrays)
    top = float(max((float(budget.cap) for budget in problem.arrays.budgets), default=5.0)) + 1e-3
    share = st.one_of(st.floats(0, 1.2), st.sampled_from((0.0, 1.0, 1 / 3)))
    return problem, np.array([draw(share) for _ in range(count)]) * top / draw(st.sampled_from((1, count)))


def spent(epsilon: FloatArray) -> Fraction:
    return sum(map(exact, epsilon.tolist()), Fraction(0))


def assert_keeps_all(problem: Problem, epsilon: FloatArray) -> None:
    """The bounds are those of the file, not of the arrays; the budgets are added up here."""
    assert np.all(np.isfinite(epsilon))
    by_name = dict(zip(problem.names, epsilon.tolist(), strict=True))
    for attribute in problem.attributes:
        assert attribute.lower <= by_name[attribute.name] <= attribute.upper
        if attribute.epsilon is not None:
            assert by_name[attribute.name] == attribute.epsilon
    if problem.total_epsilon is not None:
        assert spent(epsilon) <= exact(problem.total_epsilon)
    for group in problem.groups:
        inside = (exact(by_name[name]) for name in group.attributes)
        assert sum(inside, Fraction(0)) <= exact(group.epsilon_max)


def total_of(arrays: Arrays) -> Fraction | None:
    return next((budget.cap for budget in arrays.budgets if budget.name == TOTAL), None)


def check_fitted(case: tuple[Problem, FloatArray]) -> None:
    problem, candidate = case
    arrays = problem.arrays
    before = candidate.copy()
    epsilon = fitted(arrays, candidate)
    assert np.array_equal(candidate, before)
    assert_keeps_all(problem, epsilon)
    # nothing is raised but to its lower bound
    assert np.all(epsilon <= np.maximum(candidate, arrays.lower))
    # what fits already is not touched
    assert np.array_equal(fitted(arrays, epsilon), epsilon)
    # where the total alone was overspent, all of it is spent, to the last digits of each epsilon
    total = total_of(arrays)
    clipped = np.clip(before, arrays.lower, arrays.upper)
    if total is not None and len(arrays.budgets) == 1 and spent(clipped) > total:
        assert spent(np.nextafter(epsilon, math.inf)) > total


def check_tidied(case: tuple[Problem, FloatArray]) -> None:
    problem, candidate = case
    arrays = problem.arrays
    start = fitted(arrays, candidate)
    epsilon = tidied(arrays, start)
    if arrays.ceilings.size:
        assert epsilon is None
    if epsilon is None:
        return
    assert_keeps_all(problem, epsilon)
    free = arrays.lower < arrays.upper
    moved = np.abs(epsilon - start) > 1e-9 * np.maximum(1.0, start)
    total = total_of(arrays)
    if problem.objective == "min_epsilon":
        assert not moved.any()
        assert np.all(epsilon >= start)  # up, so that no floor is lost
    else:
        assert moved.sum() <= 1  # the one that takes the remainder
        if total is not None and free.any() and total - spent(epsilon) <= UNSPENT * total:
            assert spent(np.nextafter(epsilon, math.inf)) > total or np.any(epsilon == arrays.upper)
    long = [
        i
        for i in np.flatnonzero(free)
        if len(Decimal(repr(float(epsilon[i]))).normalize().as_tuple().digits) > DIGITS
        and epsilon[i] not in (arrays.lower[i], arrays.upper[i])
    ]
    assert len(long) <= (problem.objective != "min_epsilon")


def check_even(problem: Problem) -> None:
    """The even split is max-min fair: whoever has less than somebody is held by a budget or a bound."""
    arrays = problem.arrays
    epsilon = even(arrays)
    assert_keeps_all(problem, epsilon)
    if total_of(arrays) is None:
        return
    for i, attribute in enumerate(problem.attributes):
        if epsilon[i] >= attribute.upper:
            continue
        held = False
        for budget in arrays.budgets:
            if i not in budget.members:
                continue
            inside = epsilon[budget.members]
            slack = float(budget.cap - spent(inside))
            scale = 1e-12 * max(1.0, float(budget.cap))
            above_lower = inside > arrays.lower[budget.members]
            largest = epsilon[i] >= np.max(inside[above_lower], initial=0.0) - scale
            held = held or (slack <= scale and bool(largest))
        assert held, (i, epsilon)


@FEW
@given(candidates())
def test_a_fitted_split_keeps_everything_and_loses_only_the_overshoot(
    case: tuple[Problem, FloatArray],
) -> None:
    check_fitted(case)


@FEW
@given(candidates())
def test_a_tidied_split_keeps_everything_in_few_digits_and_spends_the_total(
    case: tuple[Problem, FloatArray],
) -> None:
    check_tidied(case)


@FEW
@given(problems())
def test_the_even_split_is_even_as_far_as_bounds_pins_and_groups_let_it(problem: Problem) -> None:
    check_even(problem)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_fitted, check_tidied], ids=["fitted", "tidied"])
def test_every_budget_is_kept_exactly_on_hundreds_of_random_problems(
    check: Callable[[tuple[Problem, FloatArray]], None],
) -> None:
    MANY(given(candidates())(check))()


@pytest.mark.slow
def test_the_even_split_is_fair_on_hundreds_of_random_problems() -> None:
    MANY(given(problems())(check_even))()


def plain(total: float, count: int, **fields: object) -> Problem:
    names = [f"a{i}" for i in range(count)]
    attributes = [Attribute(name, categories=i + 2) for i, name in enumerate(names)]
    return Problem(attributes=attributes, moments=[CrossMoment("a0")], total_epsilon=total, **fields)


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 9_999_999).map(lambda n: n / 1000))
@example(3, 0.3)
@example(3, 1.0)
@example(7, 1e-298)
@example(7, 1e4)
def test_where_nothing_binds_the_even_split_is_equal_and_spends_the_total_to_the_last_decimals(
    count: int, total: float
) -> None:
    epsilon = even(plain(total, count).arrays)
    assert len(set(epsilon.tolist())) == 1
    assert spent(epsilon) <= exact(total) < spent(np.nextafter(epsilon, math.inf))


def test_a_tidied_split_that_would_overspend_a_group_is_none() -> None:
    """Three twelve-digit thirds of 0.2 are more than 0.2."""
    group = Group("g", attributes=["a0", "a1", "a2"], epsilon_max=0.2)
    arrays = plain(3.0, 4, groups=[group]).arrays
    assert tidied(arrays, even(arrays)) is None
    free = plain(3.0, 4).arrays
    assert tidied(free, np.array([1 / 3, 1 / 3, 1 / 3, 2.0])) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2.0])


def test_a_tidied_minimum_is_rounded_up() -> None:
    problem = Problem(
        attributes=[Attribute("a", categories=2), Attribute("b", categories=3)],
        moments=[CrossMoment("a", "b", floor=0.1)],
        objective="min_epsilon",
    )
    found = tidied(problem.arrays, np.array([1.2345678901230001, 0.98765432109999]))
    assert found is not None
    assert found.tolist() == [1.23456789013, 0.9876543211]


def test_less_than_a_file_can_carry_is_nothing() -> None:
    assert even(plain(1e-300, 7).arrays).tolist() == [0.0] * 7
    assert fitted(plain(1.0, 2).arrays, np.array([1e-310, 0.5])).tolist() == [0.0, 0.5]


def test_floors_that_no_epsilon_reaches_get_the_largest_epsilon() -> None:
    problem = Problem(
        attributes=[Attribute("a", categories=2), Attribute("b", categories=2, epsilon_max=0.1)],
        moments=[CrossMoment("b", floor=0.5)],
        objective="min_epsilon",
    )
    assert even(problem.arrays).tolist() == [1e4, 0.1]


def test_pins_that_fill_the_total_leave_the_others_nothing() -> None:
    pinned = [Attribute(f"p{i}", categories=2, epsilon=0.1) for i in range(3)]
    problem = Problem(
        attributes=[*pinned, Attribute("free", categories=2)], moments=[CrossMoment("p0")], total_epsilon=0.3
    )
    assert even(problem.arrays).tolist() == [0.1, 0.1, 0.1, 0.0]
    assert fitted(problem.arrays, np.full(4, 5.0)).tolist() == [0.1, 0.1, 0.1, 0.0]


def test_overlapping_groups_share_out_what_the_tightest_leaves() -> None:
    groups = [
        Group("tight", attributes=["a0", "a1"], epsilon_max=0.4),
        Group("wide", attributes=["a1", "a2"], epsilon_max=1.0),
    ]
    assert even(plain(3.0, 4, groups=groups).arrays) == pytest.approx([0.2, 0.2, 0.8, 1.8], abs=1e-12)


def test_without_a_total_the_even_split_is_the_least_that_keeps_every_floor() -> None:
    problem = Problem(
        attributes=[Attribute("a", categories=4), Attribute("b", categories=9)],
        moments=[CrossMoment("a", "b", floor=0.3), CrossMoment("b", floor=0.2)],
        objective="min_epsilon",
    )
    epsilon = even(problem.arrays)
    assert epsilon[0] == epsilon[1]
    floors = np.log([0.3, 0.2])
    assert np.all(log_retentions(problem.arrays, epsilon) >= floors)
    assert np.any(log_retentions(problem.arrays, epsilon * (1 - 1e-9)) < floors)


@settings(max_examples=40)
@given(
    st.lists(st.floats(1e-12, 1e3), min_size=1, max_size=6),
    st.floats(0.1, 0.999999),
)
def test_overshoot_comes_off_in_proportion(parts: list[float], share: float) -> None:
    """The total that a file can state is met; the proportions of the candidate stay."""
    candidate = np.array(parts)
    total = float_at_least(spent(candidate) * exact(share))
    if not 1e-300 <= total <= 1e4:
        return
    epsilon = fitted(plain(total, len(parts)).arrays, candidate)
    clipped = np.minimum(candidate, total)
    scale = total / clipped.sum()
    assert epsilon == pytest.approx(clipped * min(scale, 1.0), rel=1e-9)
