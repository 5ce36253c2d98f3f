"""Reports from any background are what the sampler's counts say: R1, R3, R4, R5, R36."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import AllocatedBlock
from budget_opt.mechanisms.background_sampler import (
    BackgroundSampler,
    background_sampler_for,
    background_sampler_of_width,
    blind_counts,
)
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.randomizer.drawing import SingleUse
from budget_opt.randomizer.kernel import BackgroundResponse, blind_report, kernel_for
from budget_opt.randomizer.row_names import unnamed
from budget_opt.randomizer.words import SeededWords
from budget_opt.tables.encoding import code_type
from tests.randomizer.exact_counts import assert_binomial
from tests.randomizer.test_kernel import C, as_words, counts_of_reports, randomize_column

EDGES = (2, 3, 127, 128, 129, 255, 256, 257, 32767, 32768, 65535, 65536, 65537)


def weights_of(r: int) -> list[int]:
    """Uneven weights, the largest 1,000 times the least."""
    return [1 + (k * 7919) % 1000 for k in range(r)]


def around(thresholds: Sequence[int], bits: int, rng: np.random.Generator, most: int = 60) -> list[int]:
    """Words on both sides of thresholds, the ends, others; of 128 bits also those with a threshold's half."""
    picked = (
        thresholds
        if len(thresholds) <= most
        else [thresholds[i] for i in rng.integers(0, len(thresholds), most)]
    )
    near = {t + step for t in (*picked, thresholds[0], thresholds[-1]) for step in (-1, 0, 1)}
    near |= {int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(50)} | {0, 2**bits - 1}
    if bits == 128:
        near |= {(t >> 64 << 64) + low for t in picked for low in (0, 1, 2**64 - 1)}
    return sorted(word for word in near if 0 <= word < 2**bits)


def expected(sampler: BackgroundSampler, truth: int, words: Sequence[int]) -> list[int]:
    """The words in the order of the categories, counts[v] to each, and then those that leave the truth."""
    ends, categories = list(accumulate(sampler.counts)), [*range(len(sampler.counts)), truth]
    return [categories[bisect_right(ends, word)] for word in words]


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("r", [2, 3, 64, 129, 256, 257, 1000])
@pytest.mark.parametrize("epsilon", [1e-3, 7.0, 43.0])
def test_r1_every_report_is_what_the_counts_say(bits: int, r: int, epsilon: float) -> None:
    sampler = background_sampler_of_width(epsilon, weights_of(r), bits)
    if sampler is None:
        return
    rng = np.random.default_rng(r)
    words = around(sampler.thresholds, bits, rng)
    for x in {0, r // 2, r - 1}:
        codes = np.full(len(words), x, dtype=code_type(r))
        reports = BackgroundResponse(sampler).report(codes, as_words(words, bits))
        assert reports.dtype == codes.dtype
        assert reports.tolist() == expected(sampler, x, words)


@pytest.mark.parametrize(("r", "bits"), [*product(EDGES, (64, 128)), (10**6, 64)])
def test_r4_reports_at_the_edges_of_the_widths_are_those_of_one_cell(r: int, bits: int) -> None:
    sampler = background_sampler_of_width(9.0, weights_of(r), bits)
    assert sampler is not None
    words = around(sampler.thresholds, bits, np.random.default_rng(r))
    for x in {0, r - 1}:
        codes = np.full(len(words), x, dtype=code_type(r))
        reports = BackgroundResponse(sampler).report(codes, as_words(words, bits))
        assert reports.tolist() == [sampler.report(x, word) for word in words]


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=40), st.sampled_from([32, 64, 128]), st.data())
def test_r1_any_counts_and_any_word(weights: list[int], bits: int, data: st.DataObject) -> None:
    """Counts of a few words each, and of nearly all."""
    unit = data.draw(st.integers(1, (2**bits - 1) // sum(weights)))
    sampler = BackgroundSampler(bits, tuple(weight * unit for weight in weights))
    near = st.sampled_from(sampler.thresholds).flatmap(lambda t: st.integers(t - 2, t + 2))
    word = min(max(0, data.draw(st.integers(0, 2**bits - 1) | near)), 2**bits - 1)
    x = data.draw(st.integers(0, len(weights) - 1))
    found = BackgroundResponse(sampler).report(np.array([x], dtype=np.uint8), as_words([word], bits))
    assert found.tolist() == expected(sampler, x, [word])


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("weights", [(1, 1), (9, 1), (5, 3, 1, 1), tuple(range(1, 41))])
def test_r1_all_16_bit_words_give_the_matrix_exactly(bits: int, weights: tuple[int, ...]) -> None:
    """Counts are multiples of 2^(b-16), so that the 2^16 words w 2^(b-16) stand for equally many each."""
    small = [weight * (2**15 // sum(weights)) for weight in weights]
    sampler = BackgroundSampler(bits, tuple(count << (bits - 16) for count in small))
    r = len(weights)
    truths = sorted({0, r // 2, r - 1})
    found = counts_of_reports(BackgroundResponse(sampler), r, truths)
    claimed = np.array([[int(sampler.probability(x, y) * 2**16) for y in range(r)] for x in truths])
    assert np.array_equal(found, claimed)


@pytest.mark.parametrize("count", [0, 1, C - 1, C, C + 1, 2 * C + 7])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_r3_under_zero_words_every_cell_becomes_the_first_category(zero_words, bits: int, count: int) -> None:
    sampler = BackgroundSampler(bits, (2 ** (bits - 4), 2 ** (bits - 3), 2 ** (bits - 5)))
    codes = (1 + np.arange(count) % 2).astype(np.uint8)
    reports = randomize_column(codes, zero_words.stream(b"c", bits), BackgroundResponse(sampler))
    assert not reports.any()
    assert np.array_equal(codes, 1 + np.arange(count) % 2)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=50), st.data())
def test_r5_with_the_same_words_a_changed_cell_changes_no_other_report(
    cells: list[int], data: st.DataObject
) -> None:
    sampler = background_sampler_for(1.0, [5, 1, 2, 1, 3])
    assert sampler is not None
    place, value = data.draw(st.integers(0, len(cells) - 1)), data.draw(st.integers(0, 4))
    changed = [*cells[:place], value, *cells[place + 1 :]]
    first, second = (
        randomize_column(
            np.array(column, dtype=np.uint8), SeededWords(1).stream(b"c", 32), BackgroundResponse(sampler)
        )
        for column in (cells, changed)
    )
    # a replaced cell has the same report whatever the truth
    assert set(np.flatnonzero(first != second).tolist()) <= ({place} if value != cells[place] else set())


@pytest.mark.parametrize("weights", [(1, 1), (1, 2), (7, 1, 1), (1, 10**12), tuple(weights_of(300))])
def test_r36_a_blind_report_is_drawn_from_the_background_and_looks_at_no_cell(
    weights: tuple[int, ...],
) -> None:
    counts = blind_counts(weights, 64)
    assert sum(counts) == 2**64
    kernel, r = blind_report(len(weights), weights), len(weights)
    ends = list(accumulate(counts))
    words = around(ends[:-1], 64, np.random.default_rng(1))
    reports = [
        kernel.report(np.full(len(words), x, dtype=code_type(r)), as_words(words, 64)).tolist()
        for x in {0, r - 1}
    ]
    assert reports == [[next(v for v, end in enumerate(ends) if word < end) for word in words]] * 2
    assert isinstance(kernel_for(None, r, weights), type(kernel))


def test_r36_a_blind_cluster_is_drawn_from_the_product_of_its_members_backgrounds() -> None:
    """200,000 rows, false alarm 1e-9: a joint probability that is off by 0.008 is found."""
    members = (
        Attribute("a", categories=2, marginal=[0.7, 0.3], background="marginal"),
        Attribute("b", categories=3),
        Attribute("c", categories=2, background=[0.1, 0.9]),
    )
    made, rows = AllocatedBlock(Block(members), 0.0, None), 200_000
    columns = {name: np.ones(rows, dtype=np.uint8) for name in made.names}
    reports = SingleUse([made], SeededWords(4)).reports(columns, unnamed(rows))
    counts = np.bincount(np.ravel_multi_index([reports[name] for name in "abc"], (2, 3, 2)), minlength=12)
    expected = [a * c / 3 for a in (0.7, 0.3) for _ in range(3) for c in (0.1, 0.9)]
    assert_binomial(counts, rows, np.array(expected))
