"""Moments with two members of one cluster: without bias, by enumeration, and with errors that hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.inside_clusters import LARGEST_TABLE
from budget_opt.estimators.moments.moment import moment_from_cells, moment_from_codes, moment_from_counts
from budget_opt.estimators.releases.counting import Cells, cells_of_codes
from tests.cluster_moments import Together, released_moment
from tests.estimators.release_model import design, moment_of, skewed
from tests.estimators.test_moment_errors_by_simulation import judge, simulate


def pair_and_outsider() -> list[Design]:
    """Members a and b, of unlike backgrounds, with an outsider between them."""
    return [
        design("a", 0.7, [0, 1], [0.7, 0.3], "a + b"),
        design("c", 0.5, [1, 0, 4], [0.2, 0.5, 0.3]),
        design("b", 0.7, [0, 1, 3], [0.5, 0.3, 0.2], "a + b"),
    ]


def blocks_of(designs: Sequence[Design]) -> list[Together]:
    places: dict[str, list[int]] = {}
    for place, one in enumerate(designs):
        places.setdefault(one.cluster or one.name, []).append(place)
    return [
        Together(tuple(axes), designs[axes[0]].retention, tuple(designs[axis].background for axis in axes))
        for axes in places.values()
    ]


def exact_mean(truths: Sequence[tuple[int, ...]], designs: Sequence[Design]) -> float:
    """The expectation of the estimate over all reports of these few records."""
    shape = tuple(one.cardinality for one in designs)
    laws = []
    for x in truths:
        point = np.zeros(shape)
        point[x] = 1
        laws.append(along_all(Channel.spread, designs, point).ravel())
    chances: dict[tuple[int, ...], float] = {}
    for reports in product(range(math.prod(shape)), repeat=len(truths)):
        chance = math.prod(law[y] for law, y in zip(laws, reports, strict=True))
        table = tuple(np.bincount(reports, minlength=math.prod(shape)).tolist())
        chances[table] = chances.get(table, 0.0) + chance
    return math.fsum(
        chance * moment_from_counts(np.reshape(table, shape), designs).value
        for table, chance in chances.items()
    )


@pytest.mark.parametrize("members", [(0, 2), (0, 1, 2)])
def test_a_corrected_moment_of_a_pair_of_members_has_no_bias_given_the_data(members: tuple[int, ...]) -> None:
    """All releases of four records are enumerated: the mean estimate is the data's own moment, to rounding.

    A covariance inside a cluster, and with an outsider (three members and two categories each).
    """
    designs = [pair_and_outsider()[m] for m in members]
    if len(members) == 3:
        designs = [
            replace(one, background=np.array([0.4, 0.6]), scores=one.scores[:2].copy()) for one in designs
        ]
    shape = tuple(one.cardinality for one in designs)
    rng = np.random.default_rng(4)
    truths = [tuple(int(rng.integers(r)) for r in shape) for _ in range(4)]
    table = np.zeros(shape)
    for x in truths:
        table[x] += 1
    assert exact_mean(truths, designs) == pytest.approx(moment_of(table, designs), abs=1e-12)


def test_raw_and_corrected_moments_of_a_large_release_are_those_of_the_formula() -> None:
    """Orders 2 to 4, two clusters, any backgrounds: with the expected reports the estimate is the truth."""
    first = pair_and_outsider()
    other = [design("d", 0.4, [2, 0, 1], [0.2, 0.2, 0.6], "d + e"), design("e", 0.4, [0, 5], cluster="d + e")]
    rng = np.random.default_rng(2)
    for designs in (
        [first[0], first[2]],
        first,
        [first[0], other[0], first[2]],
        [first[0], other[1], first[2], other[0]],
        [replace(one, retention=0.6, cluster="all") for one in (*first, other[0])],
    ):
        shares = skewed(rng, tuple(one.cardinality for one in designs))
        reports = np.rint(along_all(Channel.spread, designs, shares) * 10**15).astype(np.int64)
        found = moment_from_counts(reports, designs)
        scores = [one.scores for one in designs]
        assert found.value == pytest.approx(moment_of(shares, designs), rel=1e-9, abs=1e-12)
        assert found.raw == pytest.approx(released_moment(shares, scores, blocks_of(designs)), abs=1e-12)


def test_members_of_different_clusters_keep_the_product_rule_to_the_last_digit() -> None:
    """One member each: the same numbers as if each had been randomized alone."""
    rng = np.random.default_rng(3)
    designs = [design("a", 0.7, [0, 1], cluster="a + b"), design("c", 0.5, [0, 1, 2], cluster="c + d")]
    counts = rng.multinomial(5000, rng.dirichlet(np.ones(6))).reshape(2, 3)
    alone = [replace(one, cluster=None) for one in designs]
    assert moment_from_counts(counts, designs) == moment_from_counts(counts, alone)


def test_a_cluster_that_changes_nothing_has_the_errors_of_public_data() -> None:
    """At retention 1 the value is the data's own, its data error 0 and its population error the plain one."""
    designs = [replace(one, retention=1.0) for one in pair_and_outsider()]
    rng = np.random.default_rng(6)
    counts = rng.multinomial(4000, rng.dirichlet(np.ones(18))).reshape(2, 3, 3)
    found = moment_from_counts(counts, designs)
    plain = moment_from_counts(counts, [replace(one, cluster=None) for one in designs])
    assert found.value == pytest.approx(plain.value, rel=1e-12)
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert moment_from_counts(counts, designs, target="data").standard_error == 0


def test_rows_counts_and_weighted_cells_of_members_give_the_same() -> None:
    rng = np.random.default_rng(8)
    designs = pair_and_outsider()
    codes = {one.name: rng.integers(0, one.cardinality, 900).astype(np.uint8) for one in designs}
    counts = np.zeros((2, 3, 3), dtype=np.int64)
    np.add.at(counts, tuple(codes[one.name] for one in designs), 1)
    by_rows = moment_from_codes(codes, designs)
    assert by_rows.value == moment_from_counts(counts, designs).value
    cells = cells_of_codes(codes, {one.name: one.cardinality for one in designs}, largest_table=0)
    weights = np.full(900, 2.0)
    weighted = moment_from_cells(Cells(cells.codes, None, weights, weights**2), designs, "population")
    assert weighted.value == pytest.approx(by_rows.value, rel=1e-12)
    assert weighted.standard_error == pytest.approx(by_rows.standard_error, rel=1e-12)


def test_a_note_says_that_the_product_rule_does_not_hold_and_too_large_a_table_is_refused() -> None:
    designs = pair_and_outsider()
    rng = np.random.default_rng(9)
    counts = rng.multinomial(3000, rng.dirichlet(np.ones(18))).reshape(2, 3, 3)
    found = moment_from_counts(counts, designs)
    assert found.retention == pytest.approx(0.35)
    assert any("a and b are randomized together" in note for note in found.notes)
    r = math.isqrt(LARGEST_TABLE) + 1
    large = [design(name, 0.5, range(r), cluster="a + b") for name in "ab"]
    codes = {name: rng.integers(0, r, 50).astype(np.uint16) for name in "ab"}
    with pytest.raises(InputError, match="at most one of each cluster"):
        moment_from_codes(codes, large)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "target"),
    [
        ("inside", "population"),
        ("with an outsider", "data"),
        ("two clusters", "population"),
    ],
)
def test_r30_moments_of_members_cover_over_10000_repetitions(members: str, target: Target) -> None:
    """Values, errors and coverage (94 to 96 %), with backgrounds that are not uniform.

    Of a covariance in a cluster, of two members and an outsider, and of two members of each of two clusters;
    one across clusters has its place with those of attributes alone.
    """
    a, c, b = pair_and_outsider()
    d, e = design("d", 0.5, [2, 0, 1], [0.2, 0.2, 0.6], "d + e"), design("e", 0.5, [0, 5], cluster="d + e")
    designs = {
        "inside": [a, b],
        "with an outsider": [a, c, b],
        "two clusters": [a, d, b, e],
    }[members]
    rng = np.random.default_rng([len(members), len(target)])
    shares = skewed(rng, tuple(one.cardinality for one in designs))
    truth, tables = simulate(shares, designs, 3_000, target, rng)
    assert 0.94 <= judge(truth, tables, designs, target) <= 0.96
