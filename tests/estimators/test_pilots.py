"""The pilot: its sensitivity by going through all neighbours, its noise cell by cell, and its accuracy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.estimators.strengths import pilots
from budget_opt.estimators.strengths.pilots import counted, links_of, noise_rate, noisy, weighted_moments
from budget_opt.mechanisms.discrete_laplace import noise_variance
from budget_opt.mechanisms.exact import exact
from budget_opt.randomizer.entropy import fresh_below

TINY = bo.Problem(
    attributes=[
        bo.Attribute("a", categories=2),
        bo.Attribute("b", categories=3),
        bo.Attribute("c", categories=2),
    ],
    moments=[
        bo.CrossMoment("a", "b"),
        bo.CrossMoment("b", "c"),
        bo.CrossMoment("a", "b", "c"),
        bo.CrossMoment("b"),
        bo.CrossMoment("a", "c", weight=0.0, floor=0.1),
    ],
    total_epsilon=3.0,
)
DOMAIN = list(product(range(2), range(3), range(2)))


def codes_of(records):
    return dict(zip("abc", np.array(records, dtype=np.uint8).T, strict=True))


def all_counts(records):
    moments = weighted_moments(TINY)
    return np.concatenate([t.reshape(-1) for t in counted(TINY, moments, codes_of(records)).values()])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_replacement_of_a_record_changes_all_counts_by_more_than_two_a_moment(n):
    """All tables of n records over the whole domain, and all their neighbours; the bound is reached."""
    counts = {rows: all_counts(rows) for rows in combinations_with_replacement(DOMAIN, n)}
    largest = 0.0
    for rows, found in counts.items():
        for place, record in product(range(n), DOMAIN):
            neighbour = tuple(sorted([*rows[:place], record, *rows[place + 1 :]]))
            largest = max(largest, np.abs(found - counts[neighbour]).sum())
    assert largest == 2 * len(weighted_moments(TINY)) == 8


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 1e-6, 3.3])
@pytest.mark.parametrize("moments", [1, 4, 45])
def test_rate_times_sensitivity_is_the_budget_to_the_last_digit(epsilon, moments):
    assert noise_rate(epsilon, moments) * 2 * moments == exact(epsilon)


def test_every_cell_of_every_table_gets_a_draw_of_its_own_at_the_stated_rate(monkeypatch):
    asked: list[tuple[Fraction, object]] = []

    def numbered(rate, below):
        asked.append((rate, below))
        return len(asked) * 1000

    monkeypatch.setattr(pilots, "discrete_laplace", numbered)
    moments = weighted_moments(TINY)
    codes = codes_of(DOMAIN)
    tables = noisy(TINY, moments, codes, Fraction(1, 3), fresh_below)
    plain = counted(TINY, moments, codes)
    noise = np.concatenate([(tables[names] - plain[names]).reshape(-1) for names in moments])
    assert sorted(noise) == [1000.0 * k for k in range(1, 6 + 6 + 12 + 3 + 1)]
    assert set(asked) == {(Fraction(1, 3), fresh_below)}


def test_moments_without_a_weight_are_neither_read_nor_paid_for():
    assert weighted_moments(TINY) == (("a", "b"), ("b", "c"), ("a", "b", "c"), ("b",))


def test_the_noise_of_production_has_the_variance_of_its_rate():
    """4,000 cells with a variance 2 of the rate: 12 standard errors on either side, false alarm below 1e-9.

    The rate of a budget twice as large, or of half the sensitivity, is outside by far.
    """
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=200) for name in "ab"],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=1.0,
    )
    nobody = {name: np.zeros(0, dtype=np.uint8) for name in "ab"}
    rate = noise_rate(0.5, 1)
    cells = noisy(problem, (("a", "b"),), nobody, rate, fresh_below)["a", "b"].reshape(-1)[:4000]
    variance = noise_variance(rate)
    assert abs(cells.mean()) < 12 * (variance / cells.size) ** 0.5
    # the fourth moment of the law is 6 times the squared variance
    assert abs(cells.var() / variance - 1) < 12 * (5 / cells.size) ** 0.5 < 0.5


def test_marginals_are_pooled_over_all_tables_that_tell_them():
    """A table of few cells tells a share more precisely, and counts by its precision."""
    wide = np.full((2, 9), 10.0)
    narrow = np.array([[30.0, 60.0], [30.0, 60.0]])
    tables = {("a", "w"): wide, ("a", "n"): narrow}
    problem = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=2),
            bo.Attribute("w", categories=9),
            bo.Attribute("n", categories=2),
        ],
        moments=[bo.CrossMoment("a", "w"), bo.CrossMoment("a", "n")],
        total_epsilon=1.0,
    )
    tilted = {("a", "w"): wide + np.array([[1], [-1]]), ("a", "n"): narrow}
    shares = {names: table / 180 for names, table in tilted.items()}
    marginal = pilots._marginal("a", shares, 0.0, 0.0)
    assert marginal[0] - 0.5 == pytest.approx(9 / 180 * (1 / 9) / (1 / 9 + 1 / 2))
    assert links_of(problem, tables, 180)["a", "n"].strength == pytest.approx(0.0, abs=1e-12)


def linked(n, seed):
    """Two linked pairs, scored and nominal, and one that is not linked."""
    draws = np.random.default_rng(seed)
    x, z = draws.integers(0, 4, n), draws.integers(0, 3, n)
    y = np.where(draws.random(n) < 0.5, x, draws.integers(0, 4, n))
    w = np.where(draws.random(n) < 0.4, z, draws.integers(0, 3, n))
    return {"x": x, "y": y, "z": z, "w": w}


STUDY = bo.Problem(
    attributes=[
        bo.Attribute("x", categories=4),
        bo.Attribute("y", categories=4),
        bo.Attribute("z", categories=["k", "l", "m"]),
        bo.Attribute("w", categories=["k", "l", "m"]),
    ],
    moments=[bo.CrossMoment("x", "y"), bo.CrossMoment("z", "w"), bo.CrossMoment("x", "w")],
    total_epsilon=2.0,
)


def pilot(codes, epsilon, noise_levels=2.0):
    moments, n = weighted_moments(STUDY), codes["x"].size
    rate = noise_rate(epsilon, len(moments))
    tables = noisy(STUDY, moments, codes, rate, fresh_below)
    return links_of(STUDY, tables, n, rate=rate, noise_levels=noise_levels)


def test_a_pilot_finds_what_the_data_have_and_gives_no_link_its_noise():
    """At epsilon 1 and n = 4,000 noise alone gives about 0.01; ten of that are allowed, in 10 pilots."""
    codes = linked(4000, 1)
    truth = links_of(STUDY, counted(STUDY, weighted_moments(STUDY), codes), 4000)
    assert truth["x", "y"].strength > 0.4
    assert truth["z", "w"].strength > 0.3
    for _ in range(10):
        found = pilot(codes, 1.0)
        assert 0.005 < found["x", "y"].noise < 0.02
        for names, true in truth.items():
            assert abs(found[names].strength - true.strength) < 10 * found[names].noise + 0.02


def test_a_large_budget_leaves_the_strengths_of_the_data():
    codes = linked(500, 2)
    truth = links_of(STUDY, counted(STUDY, weighted_moments(STUDY), codes), 500)
    found = pilot(codes, 10_000.0, noise_levels=0.0)
    assert {n: one.strength for n, one in found.items()} == pytest.approx(
        {n: one.strength for n, one in truth.items()}, abs=1e-12
    )


def test_noise_alone_mostly_gives_no_weight():
    """Without any link about 7 of 150 strengths pass two noise levels; the chance of 41 is below 1e-12."""
    codes = {
        name: np.arange(1200) // block % r
        for name, block, r in (("x", 1, 4), ("y", 4, 4), ("z", 16, 3), ("w", 48, 3))
    }
    codes = {name: column[:1152] for name, column in codes.items()}
    passed = [one.strength > 0 for _ in range(50) for one in pilot(codes, 0.5).values()]
    assert len(passed) == 150
    assert sum(passed) <= 40
