"""What a matrix chosen for a source costs and gives away, against enumeration in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.accounting.joint import learned_under
from budget_opt.accounting.loss import three_point
from budget_opt.mechanisms.hamming import MatrixSampler

PROBLEM = bo.Problem(
    attributes=[
        bo.Attribute("x", categories=2, marginal=[0.75, 0.25]),
        bo.Attribute("s", categories=3, source={"ordered": {"first_at_least": 0.5}}, epsilon=1.5),
        bo.Attribute(
            "t",
            categories=3,
            source={"between": {"lower": [0.5, 0.1, 0], "upper": [0.7, 0.4, 0.1]}},
            epsilon=1,
        ),
    ],
    moments=[bo.CrossMoment("x")],
    total_epsilon=3.5,
)
MADE = bo.solve(PROBLEM)


def rows(name: str) -> tuple[tuple[Fraction, ...], ...]:
    return MADE[name].exact_matrix


def divergence(first: list[Fraction], second: list[Fraction], order: Fraction) -> Fraction:
    return sum((max(Fraction(0), a - order * b) for a, b in zip(first, second, strict=True)), Fraction(0))


@pytest.mark.parametrize("name", ["s", "t"])
def test_the_loss_that_is_composed_dominates_every_pair_of_truths_at_every_order(name: str) -> None:
    point = three_point(MADE.block_of(name))
    assert point is not None
    assert point.unchanged == 0
    dominating = [point.truth, point.other]
    ratio = max(
        Fraction(a, b) for one, two in permutations(rows(name), 2) for a, b in zip(one, two, strict=True) if b
    )
    assert point.truth / point.other == ratio
    orders = [Fraction(k, 20) for k in range(1, 120)]
    for one, two in permutations(rows(name), 2):
        for order in orders:
            bound = divergence(dominating, dominating[::-1], order)
            assert divergence(list(one), list(two), order) <= bound


def test_with_a_delta_its_loss_is_composed_too() -> None:
    spent = bo.solve(PROBLEM.with_fields(total_delta=1e-6))
    assert bo.verify(spent, PROBLEM.with_fields(total_delta=1e-6)).holds


@pytest.mark.parametrize("name", ["s", "t"])
def test_the_figures_of_the_column_alone_are_those_of_enumeration(name: str) -> None:
    prior = [Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)]
    (alone,) = (
        one for one in bo.meaning(MADE, priors={name: [0.5, 0.375, 0.125]}).columns if one.name == name
    )
    joint = [[p * q for q in row] for p, row in zip(prior, rows(name), strict=True)]
    reports = [sum(column, Fraction(0)) for column in zip(*joint, strict=True)]
    right = sum((max(column) for column in zip(*joint, strict=True)), Fraction(0))
    believed = [joint[y][y] / reports[y] for y in range(3) if reports[y]]
    assert alone.truth_reported == pytest.approx(float(sum(joint[y][y] for y in range(3))), rel=1e-15)
    assert alone.guess_with == pytest.approx(float(right), rel=1e-15)
    assert alone.believed == pytest.approx((float(min(believed)), float(max(believed))), rel=1e-15)
    assert alone.loss == MADE[name].loss


@pytest.mark.parametrize("names", [("s",), ("x", "s"), ("t", "x", "s"), ("s", "t")])
def test_what_is_learned_under_a_joint_is_what_enumeration_says(names: tuple[str, ...]) -> None:
    shape = [MADE[name].cardinality for name in names]
    table = np.array([1 + (7 * k) % 11 for k in range(int(np.prod(shape)))], dtype=object).reshape(shape)
    found = learned_under(MADE, names, table)
    total = int(table.sum())
    law: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = {}
    cells = list(product(*map(range, shape)))
    for truth in cells:
        share = Fraction(int(table[truth]), total)
        for report in cells:
            chance = share
            for name, x, y in zip(names, truth, report, strict=True):
                chance *= rows(name)[x][y]
            law.setdefault(report, {})[truth] = chance
    for axis, learned in enumerate(found.learned):
        guess, odds = Fraction(0), Fraction(1)
        weight = [
            Fraction(int(one), total) for one in np.moveaxis(table, axis, 0).reshape(shape[axis], -1).sum(1)
        ]
        for truths in law.values():
            of = [
                sum((p for t, p in truths.items() if t[axis] == v), Fraction(0)) for v in range(shape[axis])
            ]
            guess += max(of)
            for v, w in permutations(range(shape[axis]), 2):
                if of[w]:
                    odds = max(odds, of[v] / of[w] * weight[w] / weight[v])
        assert learned.guess_with == pytest.approx(float(guess), rel=1e-14)
        assert np.exp(learned.log_odds) == pytest.approx(float(odds), rel=1e-12)
        assert learned.log_odds <= found.sum_loss + 1e-12


def test_the_sentences_say_that_nothing_rests_on_the_source_and_what_is_never_reported() -> None:
    told = str(bo.meaning(MADE))
    assert "chosen for what is known of its distribution" in " ".join(told.split())
    assert isinstance(MADE["t"].sampler, MatrixSampler)
    assert MADE["t"].censored == (2,)
    assert "nobody is ever reported as 2" in " ".join(told.split())
