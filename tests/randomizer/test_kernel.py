"""The implemented matrix is exactly the claimed one, at every width and cardinality: R1, R3-R5, R36."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms.sampler import Sampler, sampler_for, sampler_of_width
from budget_opt.randomizer import kernel as module
from budget_opt.randomizer.kernel import BlindReport, RandomizedResponse, kernel_for, randomize_column
from budget_opt.randomizer.words import SeededWords, Words
from budget_opt.tables.encoding import code_type

EDGES = (2, 3, 127, 128, 129, 255, 256, 257, 32767, 32768, 32769, 65535, 65536, 65537, 10**6)


def as_words(values: list[int], bits: int) -> Words:
    if bits == 128:
        halves = [(value & (2**64 - 1), value >> 64) for value in values]
        return np.array(halves, dtype=np.uint64).reshape(-1, 2)
    return np.array(values, dtype=np.uint32 if bits == 32 else np.uint64)


def expected(x: int, word: int, q: int, r: int) -> int:
    """DESIGN 2.8 in Python integers."""
    return (x + min(word // q, r - 1) + 1) % r


def critical_words(sampler: Sampler, rng: np.random.Generator, most: int = 200) -> list[int]:
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
@pytest.mark.parametrize("r", EDGES)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 7.0, 21.0, 43.0])
def test_r1_r4_every_report_is_what_integers_say(bits: int, r: int, epsilon: float) -> None:
    sampler = sampler_of_width(epsilon, r, bits)
    if sampler is None:
        assert bits == 32
        return
    rng = np.random.default_rng(r)
    words = critical_words(sampler, rng)
    kernel = RandomizedResponse(sampler)
    for x in {0, 1, r // 2, r - 2, r - 1}:
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


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("r", [*range(2, 11), 17, 32, 63, 64])
def test_r1_a_counter_over_all_16_bit_words_gives_the_matrix_exactly(bits: int, r: int) -> None:
    """q a multiple of 2^(b-16): the 2^16 words that end in zeros stand for equally many words each."""
    unit = 1 << (bits - 16)
    counter = np.arange(2**16, dtype=np.uint64)
    if bits == 128:
        words = np.stack([np.zeros_like(counter), counter << np.uint64(48)], axis=1)
    else:
        words = (counter << np.uint64(bits - 16)).astype(np.uint32 if bits == 32 else np.uint64)
    for count in sorted({1, 2, 3, 100, 2**16 // r // 3, 2**16 // r // 2, (2**16 - 1) // r}):
        kernel = RandomizedResponse(Sampler(r, bits, count * unit))
        for x in {0, 1, r - 1}:
            reports = kernel.report(np.full(2**16, x, dtype=np.uint8), words)
            found = np.bincount(reports, minlength=r)
            assert found[x] == 2**16 - (r - 1) * count
            assert np.all(np.delete(found, x) == count)


def test_words_and_columns_may_be_strided_or_empty() -> None:
    sampler = Sampler(5, 32, 2**29)
    codes = np.arange(20, dtype=np.uint8) % 5
    words = SeededWords(1).stream(b"c", 32).take(20)
    whole = RandomizedResponse(sampler).report(codes, words)
    assert RandomizedResponse(sampler).report(codes[::2], words[::2]).tolist() == whole[::2].tolist()
    assert RandomizedResponse(sampler).report(codes[::-1], words[::-1]).tolist() == whole[::-1].tolist()
    assert randomize_column(codes[:0], SeededWords(1).stream(b"c", 32), RandomizedResponse(sampler)).size == 0


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_r3_under_zero_words_every_cell_changes(zero_words, bits: int, extra: int, chunks: int) -> None:
    count = max(0, chunks * module.CHUNK_CELLS + extra + (6 if chunks == 2 else 0))
    sampler = Sampler(3, bits, 2 ** (bits - 3))
    codes = np.arange(count, dtype=np.uint8) % 3
    before = codes.copy()
    reports = randomize_column(codes, zero_words.stream(b"c", bits), RandomizedResponse(sampler))
    assert np.array_equal(reports, (before + 1) % 3)
    assert np.array_equal(codes, before)
    strided = np.repeat(codes, 2)[::2]
    again = randomize_column(strided, zero_words.stream(b"c", bits), RandomizedResponse(sampler))
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


def test_the_reports_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.arange(1000, dtype=np.uint8) % 7
    results = []
    for chunk in (1, 13, 999, 1000, 1001):
        monkeypatch.setattr(module, "CHUNK_CELLS", chunk)
        stream = SeededWords(3).stream(b"c", 64)
        results.append(randomize_column(codes, stream, RandomizedResponse(Sampler(7, 64, 2**60))).tolist())
    assert all(result == results[0] for result in results)


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
    reports = BlindReport(r).report(np.zeros(len(words), dtype=code_type(r)), as_words(words, 64))
    assert reports.tolist() == [word // q for word in words]


def test_r36_epsilon_zero_and_epsilons_below_every_width_have_no_sampler() -> None:
    assert sampler_for(0.0, 5) is None
    assert sampler_for(1e-300, 5) is None
    assert isinstance(kernel_for(None, 5), BlindReport)
