"""Laws behind `verify_release`: exact tails, Theorem 1 given the data, exact variances, proved bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.tables.binomial import acceptance, at_least, at_most
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.joint import JointTally, project_tables
from budget_opt.verifier.retentions import Projection, RetentionEvidence
from budget_opt.verifier.transitions import Totals, TransitionCounts, judge_transitions

FloatArray = npt.NDArray[np.float64]


def outer_tail(k: int, n: int, p: float, step: int) -> float:
    """The sum of the binomial terms from k outwards: the first by mpmath, the others by their ratios."""
    with mpmath.workdps(60):
        log_choose = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
        first = mpmath.exp(log_choose + k * mpmath.log(p) + (n - k) * mpmath.log1p(-mpmath.mpf(p)))
    j = np.arange(k, min(n, k + 10**6) if step > 0 else max(0, k - 10**6), step, dtype=np.float64)
    odds = p / (1 - p)
    ratios = (n - j) / (j + 1) * odds if step > 0 else j / (n - j + 1) / odds
    return float(first) * (1 + float(np.sum(np.cumprod(ratios))))


@pytest.mark.parametrize("p", [2.0**-128, 1e-12, 1e-3, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("n", [1, 10, 1_000, 10**6, 10**9])
def test_binomial_tails_are_the_sums_of_their_terms(n: int, p: float) -> None:
    deviation = math.sqrt(n * p * (1 - p))
    for z in (1, 6, 8):
        k = math.ceil(n * p + z * deviation) + 1
        if k <= n:
            assert float(at_least(k, n, p)) == pytest.approx(outer_tail(k, n, p, 1), rel=1e-6, abs=1e-300)
        k = math.floor(n * p - z * deviation)
        if k >= 0:
            assert float(at_most(k, n, p)) == pytest.approx(outer_tail(k, n, p, -1), rel=1e-6, abs=1e-300)


def test_binomial_tails_outside_the_support() -> None:
    assert at_least([-1, 0, 6], 5, 0.3).tolist() == [1.0, 1.0, 0.0]
    assert at_most([-1, 5, 6], 5, 0.3).tolist() == [0.0, 1.0, 1.0]
    assert at_least(0, 0, 0.3) == at_most(0, 0, 0.3) == 1.0


@given(st.integers(0, 5_000), st.floats(1e-6, 0.999), st.floats(1e-13, 0.4))
def test_the_accepted_range_is_the_shortest_that_keeps_its_tails(n: int, p: float, tail: float) -> None:
    low, high = acceptance(n, p, tail)
    assert at_most(low - 1, n, p) <= tail < at_most(low, n, p)
    assert at_least(high + 1, n, p) <= tail
    assert high == 0 or at_least(high, n, p) > tail


def channel(name: str, r: int, kept: Fraction, scores: FloatArray | None) -> Channel:
    return Channel(name, r, (1 - kept) / r, scores)


def matrix(one: Channel) -> FloatArray:
    kept, r = float(one.retention), one.cardinality
    return kept * np.eye(r) + (1 - kept) / r


@st.composite
def moments(draw: Any) -> tuple[list[Channel], np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = draw(st.integers(1, 4))
    channels = []
    for m in range(order):
        r = int(rng.integers(2, 5))
        scores = None if draw(st.booleans()) else rng.normal(size=r)
        channels.append(channel(f"a{m}", r, Fraction(draw(st.integers(0, 99)), 100), scores))
    return channels, rng


@given(moments())
def test_prediction_and_variance_are_those_of_the_enumerated_kronecker_matrix(
    drawn: tuple[list[Channel], np.random.Generator],
) -> None:
    """Theorem 1 and the variance given the data, exactly, for orders 1 to 4 with and without scores.

    The tested function g is read off by feeding tables of one report each.
    """
    channels, rng = drawn
    shape = tuple(one.cardinality for one in channels)
    original = rng.multinomial(50, rng.dirichlet(np.ones(math.prod(shape)))).reshape(shape)
    got = project_tables(channels, original, original)
    kept = float(math.prod(one.retention for one in channels))
    assert got.predicted == pytest.approx(kept * got.data, abs=1e-12)

    g = np.array([project_tables(channels, original, cell).observed for cell in cells(shape)]) * got.n
    full = np.ones((1, 1))
    for one in channels:
        full = np.kron(full, matrix(one))
    mean, square = full @ g, full @ g**2
    shares = original.ravel() / got.n
    assert got.predicted == pytest.approx(shares @ mean, abs=1e-12)
    assert got.variance == pytest.approx(shares @ (square - mean**2), abs=1e-12)
    assert got.width == pytest.approx(g.max() - g.min(), abs=1e-12)


def cells(shape: tuple[int, ...]) -> list[npt.NDArray[np.int64]]:
    one = np.eye(math.prod(shape), dtype=np.int64)
    return [row.reshape(shape) for row in one]


def test_the_direction_of_a_nominal_table_measures_all_of_it() -> None:
    """For two nominal columns the data's own number is the norm of their centred table."""
    channels = [channel("a", 3, Fraction(1, 2), None), channel("b", 2, Fraction(1, 2), None)]
    table = np.array([[30, 5], [10, 20], [5, 30]])
    shares = table / 100
    centred = shares - np.outer(shares.sum(axis=1), shares.sum(axis=0))
    assert project_tables(channels, table, table).data == pytest.approx(np.linalg.norm(centred))


def test_one_attribute_is_measured_by_its_deviation_from_the_noise() -> None:
    """P(y = v) - q_v = lambda (P(x = v) - q_v), with scores and for a nominal attribute as a whole."""
    table, released = np.array([30, 70]), np.array([40, 60])
    scored = project_tables([channel("a", 2, Fraction(1, 2), np.array([0.0, 1.0]))], table, released)
    assert (scored.data, scored.observed, scored.predicted) == pytest.approx((0.2, 0.1, 0.1))
    nominal = project_tables([channel("a", 2, Fraction(1, 2), None)], table, released)
    assert (nominal.data, nominal.observed) == pytest.approx((0.2 * math.sqrt(2), 0.1 * math.sqrt(2)))
    columns = [np.repeat(np.arange(2), counts) for counts in (table, released)]
    tally = JointTally([channel("a", 2, Fraction(1, 2), np.array([0.0, 1.0]))], largest=1)
    tally.add(columns[:1], columns[1:])
    assert tally.projection().data == pytest.approx(0.2)


def test_tables_and_rows_give_the_same_projection() -> None:
    """Up to the rows at whose means the functions of the rows are centred."""
    rng = np.random.default_rng(1)
    scores = [np.arange(r, dtype=np.float64) for r in (3, 2, 4)]
    channels = [channel(f"a{i}", f.size, Fraction(i + 1, 5), f) for i, f in enumerate(scores)]
    columns = [[rng.integers(0, f.size, 60_000).astype(np.uint8) for f in scores] for _ in range(2)]
    tallies = [JointTally(channels, largest=largest) for largest in (24, 23)]
    for tally in tallies:
        for part in (slice(0, 10_001), slice(10_001, None)):
            tally.add(*([column[part] for column in side] for side in columns))
    dense, rows = (tally.projection() for tally in tallies)
    for name in ("data", "observed", "predicted", "variance", "width"):
        assert getattr(dense, name) == pytest.approx(getattr(rows, name), abs=1e-10)
    assert dense.basis == rows.basis == "the scores"


def test_a_moment_of_many_cells_keeps_its_retention_about_any_centre_and_no_rows() -> None:
    """The first 65,536 rows have other means than the rest; Theorem 1 holds about those means too."""
    rng = np.random.default_rng(4)
    channels = [channel(name, 300, Fraction(1, 2), np.arange(300.0)) for name in "ab"]
    columns = [np.sort(rng.integers(0, 300, 200_000)).astype(np.uint16) for _ in "ab"]
    tally = JointTally(channels)
    for start in range(0, 200_000, 50_000):
        part = [column[start : start + 50_000] for column in columns]
        tally.add(part, part)
        assert tally._sums._blocks._rows < 2**16
    projection = tally.projection()
    assert projection.predicted == pytest.approx(projection.data / 4)
    centres = [column[: 2**16].mean() for column in columns]
    assert projection.data == pytest.approx(np.mean((columns[0] - centres[0]) * (columns[1] - centres[1])))


def test_many_cells_of_nominal_attributes_are_judged_by_category_numbers() -> None:
    rng = np.random.default_rng(2)
    channels = [channel(name, 300, Fraction(1, 2), None) for name in "ab"]
    columns = [rng.integers(0, 300, 1_000).astype(np.uint16) for _ in "ab"]
    tally = JointTally(channels)
    tally.add(columns, columns)
    assert tally.projection().basis == "category numbers"


def test_bernsteins_limit_is_the_solution_of_his_inequality() -> None:
    """2 exp(-n t^2 / 2 / (V + b t / 3)) = a, Bernstein's bound for independent terms of range b."""
    evidence = RetentionEvidence(("a",), Projection("the scores", 500, 1, 0, 0, 0.7, 3.0), 0.5, 1e-10)
    t, n = evidence.tolerance, 500
    assert 2 * math.exp(-n * t**2 / 2 / (0.7 + 3.0 * t / 3)) == pytest.approx(1e-10, rel=1e-6)


@pytest.mark.slow
def test_bernsteins_limit_holds_for_rare_large_terms_where_the_normal_one_fails() -> None:
    """A category of 1 in 5,000: at rate 1e-3, 8,000 releases, 6 standard deviations (24 alarms)."""
    normal = NormalDist().inv_cdf(1 - 5e-4)
    rng = np.random.default_rng(3)
    score = np.array([0.0, 1.0])
    channels = [channel("a", 2, Fraction(98, 100), score), channel("b", 2, Fraction(98, 100), score)]
    original = np.array([[4_999, 0], [0, 1]])
    full = np.kron(matrix(channels[0]), matrix(channels[1]))
    releases = sum(rng.multinomial(k, row, 8_000) for k, row in zip(original.ravel(), full, strict=True) if k)
    alarms = normal_alarms = 0
    for released in releases.reshape(-1, 2, 2):
        projection = project_tables(channels, original, released)
        evidence = RetentionEvidence(("a", "b"), projection, 0.96, 1e-3)
        alarms += not evidence.holds
        normal_alarms += abs(projection.observed - projection.predicted) > normal * evidence.standard_error
    assert alarms <= 8 + 6 * math.sqrt(8) < normal_alarms


def tally(truth: npt.NDArray[Any], report: npt.NDArray[Any], r: int) -> Totals:
    counts = TransitionCounts(r)
    for part in (slice(0, truth.size // 3), slice(truth.size // 3, None)):
        counts.add(truth[part], report[part])
    return counts.totals()


@pytest.mark.parametrize("r", [2, 3, 60, 1_000, 3_000, 70_000])
def test_every_cardinality_is_judged_and_a_rare_fault_in_it_is_found(r: int) -> None:
    """Above r = 2,048 single cells are not counted; truths and shifts still are."""
    rng = np.random.default_rng(r)
    n, one = 100_000, channel("a", r, Fraction(1, 2), None)
    truth = rng.integers(0, r, n).astype(np.uint32)
    noise = rng.integers(0, r, n).astype(np.uint32)
    keep = rng.random(n) < 0.5
    sound = judge_transitions(one, tally(truth, np.where(keep, truth, noise), r), 1e-9)
    assert sound.kept_holds
    assert sound.counts_hold
    assert sound.every_cell == (r <= 2_048)
    # the noise follows the truth: as many kept cells, but always the same wrong category
    faulty = judge_transitions(one, tally(truth, np.where(keep, truth, (truth + 1) % r), r), 1e-9)
    assert not (faulty.counts_hold and faulty.kept_holds)


@pytest.mark.parametrize("r", [20, 3_000])
def test_one_category_of_many_that_is_left_as_it_is_is_found(r: int) -> None:
    """1 % of the rows: the share of kept cells is 0.5 percentage points too high, which it does not show."""
    rng = np.random.default_rng(6)
    n, one = 100_000, channel("a", r, Fraction(1, 2), None)
    truth = np.where(rng.random(n) < 0.01, 5, rng.integers(6, r, n)).astype(np.uint16)
    report = np.where(rng.random(n) < 0.5, truth, rng.integers(0, r, n)).astype(np.uint16)
    assert judge_transitions(one, tally(truth, report, r), 1e-9).counts_hold
    evidence = judge_transitions(one, tally(truth, np.where(truth == 5, truth, report), r), 1e-9)
    assert evidence.kept_holds
    assert not evidence.counts_hold


@pytest.mark.slow
def test_the_tests_of_one_attribute_share_their_rate_fairly() -> None:
    """500 sound releases at rate 0.8, a quarter of it for each kind, 6 standard deviations (1e-9)."""
    rng, repetitions, r, n = np.random.default_rng(7), 500, 20, 1_000
    one, failed = channel("a", r, Fraction(1, 2), None), np.zeros(2)
    for _ in range(repetitions):
        truth = rng.integers(0, r, n)
        report = np.where(rng.random(n) < 0.5, truth, rng.integers(0, r, n))
        evidence = judge_transitions(one, tally(truth, report, r), 0.8)
        failed += [not evidence.kept_holds, not evidence.counts_hold]
    for alarms, rate in zip(failed, (0.2, 0.6), strict=True):
        assert 0 < alarms <= repetitions * rate + 6 * math.sqrt(repetitions * rate * (1 - rate))


def test_the_counts_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(4)
    truth, report = (rng.integers(0, 4, 500).astype(np.uint8) for _ in range(2))
    for r in (4, 5):  # a category that never occurs
        counts = tally(truth, report, r)
        expected = np.zeros((r, r), dtype=int)
        for t, y in zip(truth, report, strict=True):
            expected[t, y] += 1
        assert np.array_equal(counts.matrix, expected)
        assert np.array_equal(counts.kept, np.diagonal(expected))
        assert np.array_equal(counts.truths, expected.sum(axis=1))
        assert np.array_equal(counts.reports, expected.sum(axis=0))
        shifts = [sum(expected[u, (u + s) % r] for u in range(r)) for s in range(r)]
        assert np.array_equal(counts.shifts, shifts)


def test_only_one_swapped_pair_of_cells_in_a_large_matrix_is_found() -> None:
    """Two categories of 50 whose reports go to each other: kept cells and shifts hardly notice."""
    rng = np.random.default_rng(5)
    n, r = 200_000, 50
    one = channel("a", r, Fraction(1, 2), None)
    truth = rng.integers(0, r, n)
    report = np.where(rng.random(n) < 0.5, truth, rng.integers(0, r, n))
    noisy = (truth == 7) & (report != 7)
    report[noisy] = np.where(rng.random(noisy.sum()) < 0.1, 12, report[noisy])
    evidence = judge_transitions(one, tally(truth, report, r), 1e-9)
    assert evidence.kept_holds
    assert not evidence.counts_hold
