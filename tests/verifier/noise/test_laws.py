"""The laws that the tests of the noise rest on, against enumeration, brute force and scipy's exact sums."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from budget_opt.verifier import hypergeometric
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block, record_hashes, shift_of
from budget_opt.verifier.noise.content import _couples, equal_shifts
from budget_opt.verifier.noise.lags import _pairs
from budget_opt.verifier.noise.pairs import CrossCounts, PairTally, _residuals, bernstein_tails, marks_of
from budget_opt.verifier.noise.repeats import Memory, window_hashes, window_rows
from budget_opt.verifier.noise.runs import Runs, _log_longest


def channel(r: int, kept: float = 0.5, name: str = "a") -> Channel:
    return Channel(name, r, (1 - Fraction(kept)) / r, None)


@given(st.data())
@settings(max_examples=200)
def test_hypergeometric_tails_are_bounded_from_above_and_closely_where_they_are_small(
    data: st.DataObject,
) -> None:
    n = data.draw(st.integers(1, 3_000))
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    k = data.draw(st.integers(max(0, a + b - n), min(a, b)))
    law = hypergeom(n, a, b)
    exact = min(1.0, 2 * min(law.cdf(k), law.sf(k - 1)))
    bound = float(hypergeometric.two_sided(k, a, b, n))
    assert bound >= exact * (1 - 1e-6)
    if exact < 1e-6:
        assert bound <= 1.2 * exact


@pytest.mark.parametrize("n", [10**6, 10**8, 10**10])
def test_hypergeometric_tails_of_many_rows_are_those_of_the_normal_law(n: int) -> None:
    """At 7 standard deviations of 10^6 rows and more both agree to some percent."""
    a, b = n // 3, n // 5
    mean, deviation = a * b / n, math.sqrt(a * b / n * (1 - a / n) * (1 - b / n))
    for sign in (-1, 1):
        bound = float(hypergeometric.two_sided(round(mean + sign * 7 * deviation), a, b, n))
        assert bound == pytest.approx(math.erfc(7 / math.sqrt(2)), rel=0.1)


@pytest.mark.parametrize("r", [2, 127, 128, 129, 255, 256, 257, 65_535, 65_536, 65_537])
def test_shifts_are_taken_modulo_r_in_every_type_of_codes(r: int) -> None:
    rng = np.random.default_rng(r)
    of = np.uint8 if r <= 256 else np.uint16 if r <= 65_536 else np.uint32
    x, y = (rng.integers(0, r, 1_000) for _ in range(2))
    x[:4], y[:4] = (0, r - 1, 0, r - 1), (0, r - 1, r - 1, 0)
    assert np.array_equal(shift_of(x.astype(of), y.astype(of), r), (y - x) % r)


@pytest.mark.parametrize(("r_a", "r_b"), [(2, 2), (2, 3), (3, 3), (3, 5), (4, 2)])
def test_equal_shifts_and_categories_have_the_stated_chance_for_all_truths(r_a: int, r_b: int) -> None:
    """Every truth with every pair of changes once: the counts are the chances times the number of pairs."""
    for x_a, x_b in product(range(r_a), range(r_b)):
        pairs = np.array(
            [(u, v) for u in range(r_a) for v in range(r_b) if u != x_a and v != x_b], dtype=np.uint8
        )
        rows = len(pairs)
        channels = (channel(r_a, name="a"), channel(r_b, name="b"))
        truths = [np.full(rows, x, dtype=np.uint8) for x in (x_a, x_b)]
        tally = PairTally(channels, 0.1)
        tally.add(Block(0, channels, truths, list(pairs.T)))
        same, both = tally._same_shift[0]
        assert both == rows
        assert same * (max(r_a, r_b) - 1) == rows
        small, large = sorted((r_a, r_b))
        of_small, of_large = (x_a, x_b) if r_a <= r_b else (x_b, x_a)
        fewer = int(of_small != of_large and of_large < small)
        same, both = tally._same_category[0, fewer]
        assert both == rows
        assert same * (small - 1) * (large - 1) == rows * (small - 1 - fewer)
        assert not tally._same_category[0, 1 - fewer].any()


@pytest.mark.parametrize("r", [2, 5, 300])
def test_residuals_have_mean_0_and_the_stated_variance_for_every_truth(r: int) -> None:
    one = channel(r, 0.25)
    p = float(one.other)
    for x in {0, 1, r // 2, r - 1}:
        law = np.full(r, p)
        law[x] += float(one.retention)
        noise, variance = _residuals(one, np.full(r, x), np.arange(r))
        assert abs(law @ noise.astype(np.float64)) < 1e-6
        assert law @ noise.astype(np.float64) ** 2 == pytest.approx(float(variance[0]), rel=1e-5)
        assert np.abs(noise).max() <= 1


def test_bernsteins_tail_is_his() -> None:
    t, v = 80.0, 500.0
    got = float(bernstein_tails(np.array([-t]), np.array([v]), 10_000)[0])
    assert got == pytest.approx(2 * math.exp(-(t**2) / 2 / (v + t / 3)), rel=1e-3)
    assert got >= 2 * math.exp(-(t**2) / 2 / (v + t / 3))


def test_equal_shifts_are_as_frequent_as_the_sum_of_squares_says() -> None:
    for r, kept in ((2, 0.3), (5, 0.7)):
        one = channel(r, kept)
        p = np.array([float(1 - one.changed), *[float(one.other)] * (r - 1)])
        assert equal_shifts(one) == pytest.approx(float(p @ p))


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_cross_counts_are_those_of_a_loop(lag: int) -> None:
    rng = np.random.default_rng(lag)
    changed = rng.random((3, 200)) < 0.4
    channels = tuple(channel(2) for _ in range(3))
    block = Block(0, channels, [np.zeros(200, np.uint8)] * 3, [row.astype(np.uint8) for row in changed])
    counts = CrossCounts(3, lag)
    counts.add(marks_of(block))
    for a, b in product(range(3), repeat=2):
        pairs = [(changed[a, i], changed[b, i + lag]) for i in range(200 - lag)]
        assert counts.counts[a, b] == sum(u and v for u, v in pairs)
        assert counts.counts[a, -1] == sum(u for u, _ in pairs)
        assert counts.counts[-1, b] == sum(v for _, v in pairs)
    assert counts.counts[-1, -1] == 200 - lag


@pytest.mark.parametrize("lag", [1, 2, 7, 50, 101])
def test_no_row_stands_in_two_serial_pairs_of_one_half(lag: int) -> None:
    """Rows numbered by their binary digits: what is counted in the earlier and the later rows is disjoint."""
    rows = 203
    for half in (0, 1):
        part = np.eye(rows, dtype=bool)[:, half * lag :]
        both, earlier, later, pairs = _pairs(part, lag)
        assert not both.any()
        assert np.all(earlier + later <= 1)
        assert earlier.sum() == later.sum() == pairs[0]
        assert np.array_equal(np.flatnonzero(later), np.flatnonzero(earlier) + lag)


def test_every_pair_of_neighbours_stands_in_one_of_the_halves() -> None:
    rng = np.random.default_rng(0)
    changed = rng.random((1, 1_001)) < 0.5
    both = sum(int(_pairs(changed[:, half:], 1)[0][0]) for half in (0, 1))
    assert both == np.count_nonzero(changed[0, 1:] & changed[0, :-1])


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_the_bound_on_runs_is_above_the_enumerated_probability_and_near_it(kept: float) -> None:
    """All 2^14 sequences."""
    n = 14
    sequences = np.array(list(product((0, 1), repeat=n)), dtype=np.uint8)
    probability = np.prod(np.where(sequences == 0, kept, 1 - kept), axis=1)
    longest, first, last = [], [], []
    for sequence in sequences:
        runs = Runs()
        runs.add(sequence)
        longest.append(runs.longest)
        first.append(runs.first)
        last.append(runs.last)
    for length in range(1, n + 1):
        exact = probability[np.array(longest) >= length].sum()
        bound = math.exp(float(_log_longest(np.array([length]), np.array([math.log(kept)]), n)[0]))
        assert bound >= exact * (1 - 1e-9)
        if exact < 1e-3:
            assert bound <= 1.05 * exact
        for end in (first, last):
            assert probability[np.array(end) >= length].sum() == pytest.approx(kept**length)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.data())
def test_runs_are_those_of_a_loop_however_the_sequence_is_cut(
    symbols: list[int], data: st.DataObject
) -> None:
    whole = np.array(symbols, dtype=np.uint8)
    cuts = (
        sorted(data.draw(st.sets(st.integers(1, len(symbols) - 1), max_size=5))) if len(symbols) > 1 else []
    )
    runs = Runs()
    for part in np.split(whole, cuts):
        runs.add(part)
    text = "".join(map(str, symbols))
    assert runs.first == len(text) - len(text.lstrip("0"))
    assert runs.last == len(text) - len(text.rstrip("0"))
    for found, signs in ((runs.longest, "0"), (runs.stuck, "12")):
        assert found == max(length for length in range(61) if any(sign * length in text for sign in signs))


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_hashes_of_windows_are_those_of_what_they_hold(length: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 3, 200).astype(np.uint64)
    cells[150 : 150 + length] = cells[20 : 20 + length]
    hashes = window_hashes(cells, length)
    assert hashes.size == 200 - length + 1
    assert hashes[150] == hashes[20]
    windows = {tuple(cells[i : i + length]): int(hashes[i]) for i in range(hashes.size)}
    assert len(set(windows.values())) == len(windows)
    assert all(windows[tuple(cells[i : i + length])] == hashes[i] for i in range(hashes.size))


def test_windows_are_long_enough_for_every_pair_of_4_billion_rows() -> None:
    log_equal, alarm = math.log(0.6), 1e-12
    length = window_rows(log_equal, 20, alarm)
    pairs = (2**32 * 20) ** 2 / 2
    assert pairs * 0.6**length <= alarm < pairs * 0.6 ** (length - 1)


def test_couples_are_of_alike_rows_and_no_row_is_in_two() -> None:
    rng = np.random.default_rng(1)
    truths = [rng.integers(0, r, 1_000).astype(np.uint8) for r in (2, 3, 5)]
    first, second = _couples(record_hashes(truths))
    rows = np.concatenate([first, second])
    assert np.unique(rows).size == rows.size
    assert all(np.array_equal(column[first], column[second]) for column in truths)
    records = truths[0].astype(int) + 2 * truths[1] + 6 * truths[2].astype(int)
    assert first.size == sum(count // 2 for count in np.bincount(records))


def test_only_windows_that_share_no_row_are_repetitions() -> None:
    memory = Memory()
    for row in (5, 6, 14):
        memory.take(b"window", (0, 0, row), 10)
    assert not memory.repeated
    memory.take(b"window", (0, 0, 15), 10)
    memory.take(b"window", (0, 1, 5), 10)
    assert memory.repeated == {(0, 0): 1, (0, 1): 1}
