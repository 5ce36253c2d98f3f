"""What an allocation states of a split: Ruiz's Table 1, samplers, retentions, value and status."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from budget_opt.allocation import Allocation, Statement, allocate, uniform
from budget_opt.errors import InputError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.sampler import sampler_for
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.objectives import value
from budget_opt.model.problem import Problem
from tests.strategies import problems


def split(epsilon: list[float], statement: Statement | None = None, **fields: Any) -> Allocation:
    """An allocation of attributes X1, X2, ... with four categories each, all pairs as moments."""
    names = [f"X{i + 1}" for i in range(len(epsilon))]
    cardinality = fields.pop("cardinality", 4)
    defaults: dict[str, Any] = {
        "attributes": [Attribute(name, categories=cardinality) for name in names],
        "moments": [CrossMoment(a, b) for a, b in itertools.combinations(names, 2)],
        "total_epsilon": 100.0,
    }
    problem = Problem(**defaults | fields)
    return allocate(problem, np.array(epsilon), statement or Statement())


# Ruiz 2026, Table 1: r = 4, five attributes, total 5; retention of pairs in percent as printed
TABLE_1: list[tuple[list[float], dict[str, float]]] = [
    ([1, 1, 1, 1, 1], dict.fromkeys(map("".join, itertools.combinations("12345", 2)), 9.0)),
    (
        [2, 2, 1 / 3, 1 / 3, 1 / 3],
        {"12": 37.8}
        | dict.fromkeys(("13", "14", "15", "23", "24", "25"), 5.5)
        | dict.fromkeys(("34", "35", "45"), 0.8),
    ),
    (
        [2, 1.5, 0.75, 0.5, 0.25],
        {"12": 28.6, "13": 13.4, "14": 8.6, "15": 4.1, "23": 10.2}
        | {"24": 6.5, "25": 3.1, "34": 3.0, "35": 1.4, "45": 0.9},
    ),
]


@pytest.mark.parametrize(("epsilon", "printed"), TABLE_1)
def test_table_1_of_ruiz_to_its_printed_digits(epsilon: list[float], printed: dict[str, float]) -> None:
    allocation = split(epsilon, total_epsilon=5.0)
    assert allocation.spent_epsilon <= 5
    assert len(printed) == 10
    for pair, percent in printed.items():
        names = [f"X{i}" for i in pair]
        assert round(100 * allocation.retention(*names), 1) == percent
        assert round(100 * allocation.retention(*reversed(names)), 1) == percent
    stated = {"".join(name[1] for name in moment.attributes): moment for moment in allocation.moments}
    assert {pair: round(100 * moment.retention, 1) for pair, moment in stated.items()} == printed


@given(problems())
@settings(max_examples=15)
def test_everything_that_is_stated_follows_from_the_epsilons(problem: Problem) -> None:
    allocation = uniform(problem)
    assert allocation.attributes == tuple(allocation[name] for name in problem.names)
    spent = sum((exact(attribute.epsilon) for attribute in allocation.attributes), Fraction(0))
    assert exact(allocation.spent_epsilon) >= spent
    assert exact(math.nextafter(allocation.spent_epsilon, -1)) < spent
    assert exact(allocation.loss) <= exact(allocation.spent_epsilon)
    for attribute in allocation.attributes:
        r = attribute.cardinality
        assert exact(attribute.loss) <= exact(attribute.epsilon)
        assert exact(attribute.retention) <= attribute.exact_retention
        assert math.isclose(attribute.truth_probability + (r - 1) * attribute.other_probability, 1)
        assert attribute.exact_retention <= Fraction(float(rr.retention(attribute.epsilon, r))) * Fraction(
            1 + 2**-50
        )
    for moment in allocation.moments:
        product = math.prod(allocation[name].exact_retention for name in moment.attributes)
        assert moment.exact_retention == product
        assert exact(moment.retention) <= product
        assert exact(math.nextafter(moment.retention, 1)) > product
        assert moment.retention == allocation.retention(*moment.attributes)


def test_the_variance_inflation_is_that_of_the_stated_marginals() -> None:
    """DESIGN 2.3: prod (1 + tau a + tau (1 + tau) b) at the implemented lambda; 1 / R^2 where uniform."""
    marginal = [0.7, 0.2, 0.1]
    allocation = split(
        [0.7, 1.3, 0.9],
        attributes=[
            Attribute("X1", categories=4),
            Attribute("X2", categories=3, marginal=marginal),
            Attribute("X3", categories=3, scores=[0, 0, 1], marginal=marginal),
        ],
    )
    bases = {moment.label: moment.variance_basis for moment in allocation.moments}
    assert bases == {
        "X1 x X2": "stated and uniform marginals",
        "X1 x X3": "stated and uniform marginals",
        "X2 x X3": "stated marginals",
    }

    def factor(name: str) -> float:
        attribute = allocation[name]
        a, b = attribute.declared.spread
        tau = float(1 / attribute.exact_retention - 1)
        return 1 + tau * a + tau * (1 + tau) * b

    for moment in allocation.moments:
        wanted = math.prod(factor(name) for name in moment.attributes)
        assert moment.variance_inflation == pytest.approx(wanted, rel=1e-13)
    plain = split([0.7, 1.3])
    assert plain.moments[0].variance_basis == "uniform marginals"
    assert plain.moments[0].variance_inflation == pytest.approx(plain.moments[0].retention ** -2, rel=1e-12)


# --- samplers and floors (DESIGN 2.8) ---


def bits(allocation: Allocation) -> list[int]:
    return [0 if attribute.sampler is None else attribute.sampler.bits for attribute in allocation.attributes]


def test_a_floor_that_binds_gets_64_bits_and_is_kept_exactly() -> None:
    floor = float(rr.retention(1.0, 4) * rr.retention(2.0, 4)) * (1 - 1e-12)
    moments = [CrossMoment("X1", "X2", floor=floor), CrossMoment("X2", "X3")]
    allocation = split([1.0, 2.0, 1.0], moments=moments)
    assert bits(allocation) == [64, 64, 32]
    assert allocation.moments[0].keeps_floor
    assert bits(split([1.0, 2.0, 1.0])) == [32, 32, 32]
    slack = [CrossMoment("X1", "X2", floor=floor * 0.999), CrossMoment("X2", "X3")]
    assert bits(split([1.0, 2.0, 1.0], moments=slack)) == [32, 32, 32]


def test_a_floor_that_64_bits_miss_gets_128() -> None:
    """A hair of 1e-20 below the exact product, which 64 bits may lose."""
    wide = [sampler_for(e, 4, least_bits=128) for e in (1.0, 2.0)]
    assert wide[0] is not None
    assert wide[1] is not None
    floor = float(wide[0].retention * wide[1].retention)
    while exact(floor) > wide[0].retention * wide[1].retention:
        floor = math.nextafter(floor, 0)
    allocation = split([1.0, 2.0], moments=[CrossMoment("X1", "X2", floor=floor)])
    assert allocation.moments[0].keeps_floor
    assert set(bits(allocation)) <= {64, 128}


def test_a_floor_that_32_bits_miss_by_more_than_usual_is_still_kept() -> None:
    """Four members of many categories lose up to epsilon x 1e-6 each in log retention."""
    floor = float(rr.retention(5.0, 4150)) ** 4 * (1 - 1.4e-5)
    names = ["X1", "X2", "X3", "X4"]
    allocation = split([5.0] * 4, cardinality=4150, moments=[CrossMoment(*names, floor=floor)])
    assert allocation.moments[0].keeps_floor


def test_a_floor_out_of_reach_is_stated_as_missed() -> None:
    allocation = split([0.1, 0.1], moments=[CrossMoment("X1", "X2", floor=0.5, ceiling=0.6)])
    assert not allocation.moments[0].keeps_floor
    assert allocation.moments[0].keeps_ceiling
    above = split([9.0, 9.0], moments=[CrossMoment("X1", "X2", ceiling=0.6)])
    assert not above.moments[0].keeps_ceiling


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-45])
def test_at_epsilon_0_and_below_every_width_nothing_is_kept_and_nothing_lost(epsilon: float) -> None:
    """R36."""
    allocation = split([1.0, epsilon], moments=[CrossMoment("X1", "X2"), CrossMoment("X1")])
    silent = allocation["X2"]
    assert silent.sampler is None
    assert (silent.loss, silent.retention, silent.exact_retention) == (0, 0, 0)
    assert silent.truth_probability == silent.other_probability == 0.25
    assert allocation.moments[0].retention == 0
    assert allocation.moments[0].variance_inflation is None
    assert allocation.moments[1].variance_inflation is not None


# --- value, bound and status ---


def test_the_stated_value_is_that_of_the_sampler_and_the_gap_that_of_the_split() -> None:
    """DESIGN 2.7: the sampler's rounding is stated apart, by the loss."""
    bound = 0.12
    outcome = split([1.0] * 3, Statement(bound=bound, gap_tolerance=0.3, solver="x"), total_epsilon=3.0)
    judged = value(outcome.question.arrays, np.ones(3))
    wanted = sum(moment.retention for moment in outcome.moments)
    assert outcome.objective.value == pytest.approx(wanted, rel=1e-14)
    assert outcome.objective.relative_gap == abs(bound - judged) / judged
    assert outcome.objective.value is not None
    assert outcome.objective.value < judged


@pytest.mark.parametrize(
    ("bound", "tolerance", "status"),
    [(None, 1e-6, "given"), (math.inf, 1e-6, "given"), (1.0, 1e-6, "feasible"), (1.0, 3.0, "optimal")],
)
def test_only_a_bound_within_the_tolerance_makes_a_split_optimal(
    bound: float | None, tolerance: float, status: str
) -> None:
    moments = [CrossMoment("X1", "X2")]
    statement = Statement(bound=bound, gap_tolerance=tolerance, solver="x")
    outcome = split([1.0, 4.0], statement, moments=moments).objective
    assert outcome.status == status
    if bound is None or math.isinf(bound):
        assert outcome.bound is None
        assert outcome.relative_gap is None
    else:
        assert outcome.value is not None
        assert outcome.relative_gap == pytest.approx(bound / outcome.value - 1, rel=1e-6)


def test_a_value_of_0_is_optimal_only_where_its_bound_is_0_too() -> None:
    """A pin at 0 in a weighted moment: nothing can be kept, and the bound proves it."""
    fields: dict[str, Any] = {"objective": "geometric_mean", "moments": [CrossMoment("X1", "X2")]}
    proved = split([0.0, 1.0], Statement(bound=0.0, solver="x"), **fields).objective
    assert (proved.value, proved.relative_gap, proved.status) == (0.0, 0.0, "optimal")
    loose = split([0.0, 1.0], Statement(bound=0.5, solver="x"), **fields).objective
    assert (loose.value, loose.relative_gap, loose.status) == (0.0, None, "feasible")
    undefined = split([0.0, 1.0], moments=fields["moments"], objective="min_variance").objective
    assert undefined.value is None


def test_min_epsilon_states_the_exact_sum() -> None:
    moments = [CrossMoment("X1", "X2", floor=1e-9)]
    assert split([0.1, 0.1, 0.1], objective="min_epsilon", moments=moments).objective.value == 0.3


def test_the_even_split_is_the_one_to_compare_with() -> None:
    problem = split([1.0] * 5, total_epsilon=5.0).question
    even = uniform(problem)
    assert even.epsilons.tolist() == [1.0] * 5
    assert (even.objective.status, even.objective.bound) == ("given", None)
    assert even.objective.solver == "even split"


# --- asking ---


def test_a_name_that_is_not_there_is_an_error_that_lists_the_names() -> None:
    allocation = split([1.0, 1.0])
    for ask in (lambda: allocation["X9"], lambda: allocation.retention("X1", "X9")):
        with pytest.raises(InputError, match="'X9' is not in the allocation; it has X1, X2"):
            ask()
    for names in ((), ("X1", "X1")):
        with pytest.raises(InputError, match="distinct"):
            allocation.retention(*names)


def test_the_epsilons_are_a_copy() -> None:
    allocation = split([1.0, 1.0])
    allocation.epsilons[0] = 9.0
    assert allocation["X1"].epsilon == 1.0
