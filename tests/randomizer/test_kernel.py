"""The implemented matrix is exactly the claimed one, at every width and cardinality: R1, R3-R5, R36."""

from __future__ import annotations

import functools
import itertools
import threading
import tracemalloc
from collections.abc import Callable

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import RandomSourceError
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler, sampler_for, sampler_of_width
from budget_opt.randomizer import kernel as module
from budget_opt.randomizer.block_cells import block_cells
from budget_opt.randomizer.kernel import (
    BackgroundResponse,
    BlindReport,
    Kernel,
    MatrixResponse,
    RandomizedResponse,
    blind_report,
    kernel_for,
    randomize_block,
)
from budget_opt.randomizer.row_thresholds import _PIECE
from budget_opt.randomizer.words import SeededWords, Words, WordStream
from budget_opt.tables.encoding import Codes, code_type

EDGES = (2, 3, 127, 128, 129, 255, 256, 257, 32767, 32768, 32769, 65535, 65536, 65537, 10**6)
EPSILONS = (
    0.1,
    0.2,
    0.3,
    0.5,
    0.7,
    1.0,
    1.3,
    1.7,
    2.0,
    2.5,
    3.0,
    3.5,
    4.0,
    5.0,
    6.0,
    7.0,
    8.0,
    9.5,
    11.0,
    13.0,
)


def randomize_column(codes: Codes, stream: WordStream, kernel: Kernel) -> Codes:
    """The report of every cell of one column, through the loop of a release."""
    cells = block_cells([codes], (), module.CHUNK_CELLS)
    randomize_block(cells, stream, kernel)
    return cells.reports[0]


def as_words(values: list[int], bits: int) -> Words:
    if bits == 128:
        halves = [(value & (2**64 - 1), value >> 64) for value in values]
        return np.array(halves, dtype=np.uint64).reshape(-1, 2)
    return np.array(values, dtype=np.uint32 if bits == 32 else np.uint64)


def expected(x: int, word: int, q: int, r: int) -> int:
    """DESIGN 2.8 in Python integers."""
    return (x + min(word // q, r - 1) + 1) % r


def critical_words(sampler: Sampler, rng: np.random.Generator, most: int = 60) -> list[int]:
    """Words on both sides of every threshold k q (or of `most` of them), the ends, and some others."""
    r, q, largest = sampler.cardinality, sampler.q, 2**sampler.bits - 1
    steps = range(1, r + 1) if r <= most else [1, 2, r - 2, r - 1, r, *map(int, rng.integers(1, r, most))]
    near = {k * q + step for k in steps for step in (-1, 0, 1)}
    anywhere = {int.from_bytes(rng.bytes(sampler.bits // 8), "little") for _ in range(50)}
    # for 128 bits also words whose high half equals a threshold's
    high = (
        {(k * q >> 64 << 64) + low for k in steps for low in (0, 1, 2**64 - 1)}
        if sampler.bits == 128
        else set()
    )
    return sorted(word for word in near | anywhere | high | {0, largest} if 0 <= word <= largest)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize(
    ("r", "epsilon"), [*itertools.product(EDGES[:-1], [1e-3, 7.0, 43.0]), (EDGES[-1], 7.0)]
)
def test_r1_r4_every_report_is_what_integers_say(bits: int, r: int, epsilon: float) -> None:
    sampler = sampler_of_width(epsilon, r, bits)
    if sampler is None:
        assert bits == 32
        return
    rng = np.random.default_rng(r)
    words = critical_words(sampler, rng)
    kernel = RandomizedResponse(sampler)
    for x in {0, r // 2, r - 1}:
        codes = np.full(len(words), x, dtype=code_type(r))
        reports = kernel.report(codes, as_words(words, bits))
        assert reports.dtype == codes.dtype
        assert reports.tolist() == [expected(x, word, sampler.q, r) for word in words]


@given(
    st.sampled_from([32, 64, 128]),
    st.integers(2, 300),
    st.floats(1e-6, 60),
    st.data(),
)
def test_r1_any_word_and_any_cell(bits: int, r: int, epsilon: float, data: st.DataObject) -> None:
    sampler = sampler_of_width(epsilon, r, bits)
    if sampler is None:
        return
    x, word = data.draw(st.integers(0, r - 1)), data.draw(st.integers(0, 2**bits - 1))
    reports = RandomizedResponse(sampler).report(np.array([x], dtype=code_type(r)), as_words([word], bits))
    assert reports.tolist() == [expected(x, word, sampler.q, r)]


class CountingWords:
    """Stands for a key stream: all 2^16 words w 2^(b-16) in turn, again and again."""

    def __init__(self, bits: int) -> None:
        self.bits, self.given = bits, 0

    def fill(self, words: Words) -> None:
        top = np.arange(self.given, self.given + len(words), dtype=np.uint64) & np.uint64(2**16 - 1)
        self.given += len(words)
        if self.bits == 128:
            words[:, 0] = 0
        (words[:, 1] if self.bits == 128 else words)[...] = top << np.uint64(min(self.bits, 64) - 16)

    def take(self, count: int) -> Words:
        raise AssertionError("the kernel fills buffers")


def counts_of_reports(kernel: Kernel, r: int, truths: list[int]) -> npt.NDArray[np.int64]:
    """How often each truth is reported as each category under all 2^16 words, through the loop of chunks.

    For one truth after another, 2^16 cells each: the chunks end between truths and leave a rest.
    """
    codes = np.repeat(np.array(truths, dtype=code_type(r)), 2**16)
    reports = randomize_column(codes, CountingWords(kernel.bits), kernel)
    rows = reports.reshape(len(truths), 2**16).astype(np.intp) + r * np.arange(len(truths))[:, None]
    return np.bincount(rows.ravel(), minlength=r * len(truths)).reshape(len(truths), r)


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_r1_all_16_bit_words_give_the_claimed_matrix_for_every_r_and_20_epsilons(bits: int) -> None:
    """The matrix is counted, and no count is off by one.

    Let q = c 2^(b-16), with c = ceil(2^16 / (exp(e) + r - 1)) what the rule of DESIGN 2.8 says of 16 bits.
    A word is w 2^(b-16) + t with w < 2^16 and t < 2^(b-16), and its u div q is
    floor((w + t / 2^(b-16)) / c) = w div c, as c is an integer: every t gives the same report. So
    2^(b-16) times the counts over t = 0 are the counts over all 2^b words. Of 64 and 128 bits a few r, as
    those are other kernels under the same rule.
    """
    for r, epsilon in itertools.product(range(2, 65) if bits == 32 else (2, 3, 17, 64), EPSILONS):
        c = int(mpmath.ceil(2**16 / (mpmath.exp(epsilon) + r - 1)))
        sampler = Sampler(r, bits, c << (bits - 16))
        truths = sorted({0, r // 2, r - 1} if r % 8 < 2 else {r // 2})
        found = counts_of_reports(RandomizedResponse(sampler), r, truths)
        claimed = np.full((len(truths), r), int(sampler.other_probability * 2**16))
        claimed[np.arange(len(truths)), truths] = int(sampler.truth_probability * 2**16)
        assert np.array_equal(found, claimed)
        assert claimed.sum() == 2**16 * len(truths)
        assert claimed.max() <= mpmath.exp(epsilon) * claimed.min()


def test_r1_all_16_bit_words_fall_where_the_integers_of_a_release_say() -> None:
    """With the q of a real allocation: the words w 2^(b-16) with u div q >= k are those from k q on."""
    for r, epsilon in itertools.product(range(2, 65), EPSILONS[::6]):
        sampler = sampler_for(epsilon, r)
        assert sampler is not None
        x, unit = r // 2, 2 ** (sampler.bits - 16)
        starts = [-(-k * sampler.q // unit) for k in range(r)] + [2**16]
        found = counts_of_reports(RandomizedResponse(sampler), r, [x])[0]
        assert np.array_equal(np.roll(found, -x - 1), np.diff(starts))


def test_words_and_columns_may_be_strided_or_empty() -> None:
    sampler = Sampler(5, 32, 2**29)
    codes = np.arange(20, dtype=np.uint8) % 5
    words = SeededWords(1).stream(b"c", 32).take(20)
    whole = RandomizedResponse(sampler).report(codes, words)
    assert RandomizedResponse(sampler).report(codes[::2], words[::2]).tolist() == whole[::2].tolist()
    assert RandomizedResponse(sampler).report(codes[::-1], words[::-1]).tolist() == whole[::-1].tolist()
    assert randomize_column(codes[:0], SeededWords(1).stream(b"c", 32), RandomizedResponse(sampler)).size == 0


C = module.CHUNK_CELLS
Column = Callable[[int], Codes]


@pytest.mark.parametrize("count", [0, 1, C - 1, C, C + 1, 2 * C + 7])
@pytest.mark.parametrize(
    ("r", "bits"), [(2, 32), (3, 32), (3, 64), (3, 128), (200, 32), (1000, 64), (70_000, 64)]
)
def test_r3_under_zero_words_every_cell_changes(zero_words, r: int, bits: int, count: int) -> None:
    kernel = RandomizedResponse(Sampler(r, bits, 2**bits // (2 * r)))
    codes = (np.arange(count) % r).astype(code_type(r))
    before = codes.copy()
    reports = randomize_column(codes, zero_words.stream(b"c", bits), kernel)
    assert np.array_equal(reports, (before + 1) % r)
    assert np.array_equal(codes, before)
    strided = np.repeat(codes, 2)[::2]
    again = randomize_column(strided, zero_words.stream(b"c", bits), kernel)
    assert np.array_equal(again, reports)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=50), st.data())
def test_r5_with_the_same_words_a_changed_cell_changes_no_other_report(
    cells: list[int], data: st.DataObject
) -> None:
    place, value = data.draw(st.integers(0, len(cells) - 1)), data.draw(st.integers(0, 4))
    changed = list(cells)
    changed[place] = value
    kernel = RandomizedResponse(Sampler(5, 32, 2**29))
    first, second = (
        randomize_column(np.array(column, dtype=np.uint8), SeededWords(1).stream(b"c", 32), kernel)
        for column in (cells, changed)
    )
    assert np.flatnonzero(first != second).tolist() == ([] if value == cells[place] else [place])


KINDS = {
    "narrow first": (7, Sampler(7, 32, 2**28)),
    "narrow last": (7, Sampler(7, 32, 2**20)),
    "64 bits": (7, Sampler(7, 64, 2**60)),
    "64 bits, narrow last": (7, Sampler(7, 64, 2**40)),
    "128 bits": (7, Sampler(7, 128, 2**124)),
    "sums wider than codes": (200, Sampler(200, 32, 2**23)),
    "codes of 16 bits": (1000, Sampler(1000, 64, 2**53)),
    "sums of 32 bits": (40_000, Sampler(40_000, 64, 2**48)),
    "blind": (5, None),
    "background": (5, BackgroundSampler(32, (2**28, 2**29, 3, 2**30, 2**27))),
    "background of 64 bits": (300, BackgroundSampler(64, tuple(range(2**54, 2**54 + 300)))),
    "background that is rarely drawn": (5, BackgroundSampler(64, (2**58, 1, 2**40, 5, 7))),
    "background of 128 bits": (5, BackgroundSampler(128, (2**124, 1, 2**125, 5, 7))),
    "matrix": (3, MatrixSampler(64, ((2**63, 0, 2**63), (2**62, 0, 3 * 2**62), (2**63 - 1, 0, 2**63 + 1)))),
    "matrix of 128 bits": (2, MatrixSampler(128, ((2**127 + 2**64, 2**127 - 2**64), (5, 2**128 - 5)))),
}
"""Categories and integers for every path through the kernel."""


def every_kind(test: Callable[..., None]) -> Callable[..., None]:
    """Runs a test with the kernel of each kind, and a function that makes a column for it."""
    cases = [(kernel_for(sampler, r), functools.partial(column_of, r)) for r, sampler in KINDS.values()]
    return pytest.mark.parametrize(("kernel", "column"), cases, ids=list(KINDS))(test)


def column_of(r: int, count: int) -> Codes:
    codes: Codes = (np.arange(count) % r).astype(code_type(r))
    return codes


@every_kind
def test_the_reports_do_not_depend_on_the_chunks(
    monkeypatch: pytest.MonkeyPatch, kernel: Kernel, column: Column
) -> None:
    """Nor does anything of a chunk get into the next, or into a shorter last one."""
    codes = column(1000)
    whole = kernel.report(codes, SeededWords(3).stream(b"c", kernel.bits).take(1000))
    for chunk in (1, 13, 999, 1000, 1001):
        monkeypatch.setattr(module, "CHUNK_CELLS", chunk)
        reports = randomize_column(codes, SeededWords(3).stream(b"c", kernel.bits), kernel)
        assert np.array_equal(reports, whole)


@every_kind
def test_the_words_and_cells_that_are_given_stay_as_they_are(kernel: Kernel, column: Column) -> None:
    codes, words = column(100), SeededWords(3).stream(b"c", kernel.bits).take(100)
    before = codes.copy(), words.copy()
    reports = kernel.report(codes, words)
    assert np.array_equal(codes, before[0])
    assert np.array_equal(words, before[1])
    buffers = kernel.buffers(150)
    buffers.words[:100] = words
    kernel.report_into(codes, buffers, codes)
    assert np.array_equal(codes, reports)


@every_kind
def test_no_chunk_takes_memory_beyond_the_buffers_of_the_call(kernel: Kernel, column: Column) -> None:
    codes, stream = column(5 * C + 3), SeededWords(3).stream(b"c", kernel.bits)
    buffers = kernel.buffers(C)
    room = codes.nbytes + sum(
        part.nbytes for part in (buffers.words, buffers.sums, buffers.lesser, buffers.places)
    )
    tracemalloc.start()
    try:
        randomize_column(codes, stream, kernel)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # 128 bits, which few allocations need, are searched for among thresholds: two arrays of indices a chunk
    searched = 3 * 8 * C if kernel.bits == 128 else 0
    if isinstance(kernel, BackgroundResponse):  # of 300 thresholds about one word of 200
        searched += 3 * 8 * C // 200
    if isinstance(kernel, MatrixResponse):  # which takes a piece of the chunk at a time
        searched = 8 * 8 * _PIECE
    assert peak <= room + searched + C // 2  # half of the smallest array of a chunk


@every_kind
def test_r6_threads_share_a_kernel_and_no_buffer(
    kernel: Kernel, column: Column, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each thread's column is what it is alone, though their chunks are randomized at the same time."""
    monkeypatch.setattr(module, "CHUNK_CELLS", 500)
    codes = column(20_000)

    def alone(seed: int) -> Codes:
        return randomize_column(codes, SeededWords(seed).stream(b"c", kernel.bits), kernel)

    found: dict[int, Codes] = {}
    threads = [threading.Thread(target=lambda i=i: found.update({i: alone(i)})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[seed], alone(seed)) for seed in range(4))


def test_r7_no_reports_come_back_where_the_words_of_a_later_chunk_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "CHUNK_CELLS", 10)
    source = SeededWords(1)
    stream = source.stream(b"c", 32)

    class Closing(CountingWords):
        def fill(self, words: Words) -> None:
            stream.fill(words)
            source.close()

    with pytest.raises(RandomSourceError, match="closed"):
        randomize_column(np.zeros(11, dtype=np.uint8), Closing(32), RandomizedResponse(Sampler(5, 32, 2**29)))


@pytest.mark.parametrize("given", [0, 1, 9, 11])
@pytest.mark.parametrize("bits", [32, 128])
def test_r6_r7_one_word_is_never_spread_over_several_cells(given: int, bits: int) -> None:
    kernel = RandomizedResponse(Sampler(5, bits, 2 ** (bits - 3)))
    with pytest.raises(RandomSourceError, match=f"{given} words for 10 cells"):
        kernel.report(np.zeros(10, dtype=np.uint8), SeededWords(1).stream(b"c", bits).take(given))


@pytest.mark.parametrize("r", EDGES)
def test_r36_without_a_sampler_the_report_does_not_look_at_the_truth(r: int) -> None:
    kernel = kernel_for(None, r)
    words = as_words([0, 1, 2**63, 2**64 - 1, *range(0, 2**64, 2**64 // 1000)], 64)
    reports = [
        kernel.report(np.full(len(words), x, dtype=code_type(r)), words).tolist() for x in {0, r // 2, r - 1}
    ]
    assert all(report == reports[0] for report in reports)
    assert (min(reports[0]), max(reports[0])) == (0, r - 1)


@pytest.mark.parametrize("r", EDGES)
def test_r36_a_blind_report_is_uniform_to_44_bits(r: int) -> None:
    q = -(-(2**64) // r)
    last = 2**64 - (r - 1) * q
    assert abs(q - 2**64 / r) / 2**64 <= 2**-44
    assert abs(last - 2**64 / r) / 2**64 <= 2**-44
    words = [k * q + step for k in {1, r // 2, r - 1} for step in (-1, 0)]
    reports = blind_report(r, None).report(np.zeros(len(words), dtype=code_type(r)), as_words(words, 64))
    assert reports.tolist() == [word // q for word in words]


def test_r36_epsilon_zero_and_epsilons_below_every_width_have_no_sampler() -> None:
    assert sampler_for(0.0, 5) is None
    assert sampler_for(1e-300, 5) is None
    assert isinstance(kernel_for(None, 5), BlindReport)
