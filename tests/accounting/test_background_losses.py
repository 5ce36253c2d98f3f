"""The loss of a background: its pairs of values have different laws, and one law is worse than all."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.accounting.columns import column_alone
from budget_opt.accounting.composition import delta_at, epsilon_at
from budget_opt.accounting.loss import from_epsilon, three_point
from budget_opt.accounting.zcdp import tight_rho
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.sampler import Sampler
from tests.accounting.meaning_problems import likelihoods, marginal

Law = list[Fraction]
backgrounds = st.lists(st.integers(1, 40), min_size=2, max_size=4).map(
    lambda counts: [count / sum(counts) for count in counts]
)


def allocation_of(*given_: tuple[list[float], float], **fields: object) -> bo.Allocation:
    """Attributes a, b, … with these backgrounds and epsilons."""
    names = "abcd"[: len(given_)]
    problem = bo.Problem(
        total_epsilon=100.0,
        attributes=[
            bo.Attribute(name, categories=len(q), background=q)
            for name, (q, _) in zip(names, given_, strict=True)
        ],
        moments=[bo.CrossMoment(*names)],
        **fields,
    )
    return bo.allocation_from(problem, {name: e for name, (_, e) in zip(names, given_, strict=True)})


def rows_of(sampler: Sampler | BackgroundSampler) -> list[Law]:
    r = sampler.cardinality
    return [[sampler.probability(x, y) for y in range(r)] for x in range(r)]


def hockey_stick(p: Law, q: Law, order: Fraction) -> Fraction:
    return sum((max(a - order * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


@given(backgrounds, st.floats(0.05, 6), st.lists(st.fractions(0, 40), min_size=1, max_size=20))
@settings(max_examples=50)
def test_no_pair_of_values_is_worse_than_the_stated_law_at_any_order(
    background: list[float], epsilon: float, orders: list[Fraction]
) -> None:
    """Domination in exact fractions, for orders below and above 1; reached at orders >= 1."""
    allocation = allocation_of((background, epsilon))
    sampler = allocation["a"].sampler
    assert isinstance(sampler, BackgroundSampler)
    point = three_point(allocation.blocks[0])
    assert point is not None
    worst = [point.truth, point.other, point.unchanged], [point.other, point.truth, point.unchanged]
    rows = rows_of(sampler)
    ratio = sampler.likelihood_ratio
    for order in (*orders, Fraction(1), ratio, ratio * Fraction(999, 1000), 1 / ratio):
        largest = max(
            hockey_stick(rows[x], rows[y], order) for x, y in itertools.permutations(range(len(rows)), 2)
        )
        bound = hockey_stick(*worst, order)
        assert largest <= bound
        if order >= 1:
            assert largest == bound


@given(backgrounds, st.floats(0.05, 6))
@settings(max_examples=30)
def test_the_law_is_one_and_its_loss_the_stated_one(background: list[float], epsilon: float) -> None:
    block = allocation_of((background, epsilon)).blocks[0]
    point = three_point(block)
    assert point is not None
    assert min(point.truth, point.other, point.unchanged) >= 0
    assert point.truth + point.other + point.unchanged == 1
    assert point.truth - point.other == block.exact_retention
    assert point.loss == block.loss
    assert math.log(point.truth / point.other) == pytest.approx(point.loss, rel=1e-12)


def exact_delta(allocation: bo.Allocation, epsilon: float) -> float:
    """The largest hockey-stick divergence of two records, over all pairs: by every report."""
    order = Fraction(math.exp(epsilon))
    matrices = [rows_of(block.sampler) for block in allocation.blocks if block.sampler is not None]
    laws: list[Law] = []
    for record in itertools.product(*(range(len(rows)) for rows in matrices)):
        parts = [rows[x] for rows, x in zip(matrices, record, strict=True)]
        laws.append([math.prod(chosen) for chosen in itertools.product(*parts)])
    return float(max(hockey_stick(p, q, order) for p, q in itertools.permutations(laws, 2)))


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 2.5])
def test_r32_the_convolution_is_never_below_the_exact_delta_of_any_two_records(epsilon: float) -> None:
    allocation = allocation_of(([0.7, 0.3], 1.0), ([0.5, 0.3, 0.2], 1.2), ([0.45, 0.55], 0.8))
    stated = delta_at(allocation, epsilon)
    exactly = exact_delta(allocation, epsilon)
    assert stated.delta >= exactly
    assert stated.delta <= 1.5 * exactly + 1e-3


def test_r32_two_equally_rare_categories_make_the_convolution_tight() -> None:
    allocation = allocation_of(([0.6, 0.2, 0.2], 1.0), ([0.4, 0.3, 0.3], 1.2))
    assert delta_at(allocation, 1.0).delta == pytest.approx(exact_delta(allocation, 1.0), rel=1e-3)


def test_the_ideal_law_takes_the_effective_cardinality() -> None:
    allocation = allocation_of(([0.7, 0.2, 0.1], 1.5))
    point = three_point(allocation.blocks[0])
    assert point is not None
    (ideal,) = from_epsilon(np.array([1.5]), allocation.question.arrays.cardinality)
    assert float(ideal.truth) == pytest.approx(float(point.truth), abs=1e-8)
    assert float(ideal.other) == pytest.approx(float(point.other), abs=1e-8)


@given(backgrounds, st.floats(0.1, 4), st.sampled_from([1.5, 2.0, 8.0]))
@settings(max_examples=25)
def test_rho_bounds_the_renyi_divergence_of_every_pair(
    background: list[float], epsilon: float, order: float
) -> None:
    allocation = allocation_of((background, epsilon))
    point = three_point(allocation.blocks[0])
    assert point is not None
    (rho,) = tight_rho([point])
    rows = [[float(share) for share in row] for row in rows_of(allocation.blocks[0].sampler)]
    for p, q in itertools.permutations(rows, 2):
        moment = sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))
        assert math.log(moment) / (order - 1) <= rho * order * (1 + 1e-9)


@given(backgrounds, st.sampled_from([0.0, 0.01, 0.5, 3.0]), st.data())
@settings(max_examples=20)
def test_what_one_column_tells_is_that_of_enumeration(
    background: list[float], epsilon: float, data: st.DataObject
) -> None:
    r = len(background)
    counts = data.draw(st.lists(st.integers(0, 9), min_size=r, max_size=r).filter(any))
    prior = [Fraction(count, sum(counts)) for count in counts]
    attribute = allocation_of((background, epsilon))["a"]
    truths, others = attribute.exact_laws
    rows = [[truths[y] if x == y else others[y] for y in range(r)] for x in range(r)]
    seen = [sum(prior[x] * rows[x][y] for x in range(r)) for y in range(r)]
    believed = [prior[y] * rows[y][y] / seen[y] for y in range(r) if prior[y]]
    guess = sum(max(prior[x] * rows[x][y] for x in range(r)) for y in range(r))
    told = column_alone(attribute, prior, "stated")
    assert told.truth_reported == pytest.approx(float(sum(prior[x] * rows[x][x] for x in range(r))))
    assert told.believed == pytest.approx((float(min(believed)), float(max(believed))))
    assert exact(told.guess_with) >= guess
    assert told.guess_with == pytest.approx(float(guess))
    assert told.guess_without == pytest.approx(float(max(prior)))


def test_what_a_record_tells_of_an_attribute_under_a_joint_is_that_of_enumeration() -> None:
    allocation = allocation_of(([0.7, 0.2, 0.1], 1.0), ([0.8, 0.2], 2.0))
    joint = {(x, y): Fraction(1 + 2 * (x == y) + x, 16) for x in range(3) for y in range(2)}
    assert sum(joint.values()) == 1
    table = [[int(16 * joint[x, y]) for y in range(2)] for x in range(3)]
    meaning = bo.meaning(allocation, joint={("a", "b"): table})
    for axis, learned in enumerate(meaning.joints[0].learned):
        shares = marginal(joint, axis)
        seen = likelihoods(allocation, joint, axis)
        guess = sum(max(by_value.values()) for by_value in seen.values())
        odds = max(
            (by_value[v] / shares[v]) / (by_value[w] / shares[w])
            for by_value in seen.values()
            for v, w in itertools.permutations(shares, 2)
        )
        assert learned.guess_with == pytest.approx(float(guess))
        assert learned.log_odds == pytest.approx(math.log(odds))


@pytest.mark.slow
def test_the_total_with_a_delta_is_kept_and_searched_with_the_effective_cardinality() -> None:
    problem = allocation_of(*[([0.7, 0.2, 0.1], 0.1)] * 4).question.with_fields(
        total_epsilon=1.0, total_delta=0.05
    )
    made = bo.solve(problem)
    assert epsilon_at(made, 0.05).epsilon <= 1.0
    assert made.spent_epsilon > 1.0
