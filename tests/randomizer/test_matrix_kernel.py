"""Reports of a matrix that a known source chose are what its rows of counts say: R1, R2, R4, R5."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms.hamming import MatrixSampler, Source
from budget_opt.mechanisms.source_sampler import source_sampler
from budget_opt.randomizer.context import report_purpose
from budget_opt.randomizer.kernel import MatrixResponse, kernel_for
from budget_opt.randomizer.words import SeededWords
from tests.randomizer.exact_counts import assert_binomial
from tests.randomizer.test_background_kernel import around
from tests.randomizer.test_kernel import as_words, counts_of_reports, randomize_column


def sampler_of_shares(bits: int, shares: list[list[int]]) -> MatrixSampler:
    """Rows of shares that sum to a power of 2, as counts of words."""
    return MatrixSampler(bits, tuple(tuple(2**bits * one // sum(row) for one in row) for row in shares))


UNEVEN = [[5, 0, 2, 1], [1, 0, 6, 1], [2, 0, 4, 2], [3, 0, 1, 4]]
"""Code 1 is censored."""


def by_hand(sampler: MatrixSampler, truth: int, word: int) -> int:
    return bisect_right(list(accumulate(sampler.counts[truth])), word)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize(
    "shares",
    [[[3, 1], [1, 3]], UNEVEN, [[1, 2, 1], [1, 1, 2], [2, 1, 1]], [[8, 0, 0], [8, 0, 0], [8, 0, 0]]],
)
def test_r1_every_report_is_what_the_counts_say(bits: int, shares: list[list[int]]) -> None:
    sampler = sampler_of_shares(bits, shares)
    kernel = MatrixResponse(sampler)
    for truth, sums in enumerate(sampler.thresholds):
        words = around([one for one in sums if one < 2**bits] or [0], bits, np.random.default_rng(1))
        codes = np.full(len(words), truth, dtype=np.uint8)
        reports = kernel.report(codes, as_words(words, bits))
        assert reports.dtype == codes.dtype
        assert reports.tolist() == [by_hand(sampler, truth, word) for word in words]
        assert reports.tolist() == [sampler.report(truth, word) for word in words]
        assert (codes == truth).all()


@given(st.integers(2, 9), st.sampled_from([32, 64, 128]), st.data())
def test_r1_any_rows_and_any_word(r: int, bits: int, data: st.DataObject) -> None:
    """Rows cut at any places, some of them next to each other, in any truth."""
    rows = []
    for _ in range(r):
        cuts = data.draw(
            st.lists(st.integers(1, 2**bits - 1), min_size=r - 1, max_size=r - 1, unique=True).map(sorted)
        )
        rows.append(tuple(b - a for a, b in zip([0, *cuts], [*cuts, 2**bits], strict=True)))
    sampler = MatrixSampler(bits, tuple(rows))
    truths = data.draw(st.lists(st.integers(0, r - 1), min_size=1, max_size=6))
    words = [
        data.draw(
            st.sampled_from(sampler.thresholds[truth][:-1]).flatmap(
                lambda t: st.sampled_from([t - 1, t, min(t + 1, 2**bits - 1)])
            )
        )
        for truth in truths
    ]
    found = MatrixResponse(sampler).report(np.array(truths, dtype=np.uint8), as_words(words, bits))
    assert found.tolist() == [by_hand(sampler, x, word) for x, word in zip(truths, words, strict=True)]


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_r1_all_16_bit_words_give_the_matrix_exactly(bits: int) -> None:
    sampler = sampler_of_shares(bits, UNEVEN)
    found = counts_of_reports(MatrixResponse(sampler), 4, [0, 1, 2, 3])
    claimed = np.array([[int(sampler.probability(x, y) * 2**16) for y in range(4)] for x in range(4)])
    assert np.array_equal(found, claimed)


@pytest.mark.parametrize("truth", [0, 1, 2])
def test_r2_reports_of_a_sound_source_have_the_counts_of_their_row(truth: int) -> None:
    """300,000 cells a truth; false alarm 1e-9. A probability that is off by 0.006 is found."""
    source = Source.ordered(3, first_at_least=0.7)
    sampler = source_sampler(source, 1.5)
    assert sampler is not None
    codes = np.full(300_000, truth, dtype=np.uint8)
    reports = randomize_column(codes, SeededWords(truth).stream(b"c", sampler.bits), kernel_for(sampler, 3))
    row = np.array([float(share) for share in sampler.matrix.rows[truth]])
    assert_binomial(np.bincount(reports, minlength=3), codes.size, row)


def test_r4_three_hundred_categories_and_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    r, rng = 300, np.random.default_rng(2)
    cuts = np.sort(2**30 + rng.permutation(r * (r - 1)).reshape(r, r - 1) * 2**14, axis=1)
    rows = np.diff(cuts, axis=1, prepend=0, append=2**32).tolist()
    kernel = MatrixResponse(MatrixSampler(32, tuple(map(tuple, rows))))
    codes = rng.integers(0, r, 1000).astype(np.uint16)
    words = rng.integers(0, 2**32, 1000, dtype=np.uint32)
    due = [bisect_right(cuts[x], w) for x, w in zip(codes, words, strict=True)]
    for piece in (1, 999, 1000, 1001):
        monkeypatch.setattr("budget_opt.randomizer.row_thresholds._PIECE", piece)
        assert kernel.report(codes, words).tolist() == due


def test_r5_a_changed_cell_changes_no_other_report_and_reports_may_take_the_place_of_codes() -> None:
    sampler = sampler_of_shares(64, UNEVEN)
    kernel, codes = MatrixResponse(sampler), np.arange(1000, dtype=np.uint8) % 4
    words = np.random.default_rng(3).integers(0, 2**64, 1000, dtype=np.uint64)
    first = kernel.report(codes, words)
    changed = codes.copy()
    changed[500] = (changed[500] + 1) % 4
    second = kernel.report(changed, words)
    assert set(np.flatnonzero(first != second).tolist()) <= {500}
    buffers, place = kernel.buffers(1000), codes.copy()
    buffers.words[...] = words
    kernel.report_into(place, buffers, place)
    assert np.array_equal(place, first)


def test_words_are_of_another_stream_than_those_of_any_other_matrix() -> None:
    from budget_opt.model.attribute import Attribute

    domain = Attribute("a", categories=4).domain
    one, other = sampler_of_shares(64, UNEVEN), sampler_of_shares(64, [*UNEVEN[:3], [2, 0, 2, 4]])
    purposes = {report_purpose([("a", domain)], sampler) for sampler in (one, other, None)}
    assert len(purposes) == 3
