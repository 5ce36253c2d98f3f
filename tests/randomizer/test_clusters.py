"""A cluster's columns are randomized as one joint code: R1, R3, R4, R5, R6, R9, R36."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import AllocatedBlock
from budget_opt.mechanisms.sampler import Sampler, sampler_for
from budget_opt.randomizer import drawing
from budget_opt.randomizer.block_cells import block_cells
from budget_opt.randomizer.drawing import SingleUse
from budget_opt.randomizer.kernel import CHUNK_CELLS, RandomizedResponse, randomize_block
from budget_opt.randomizer.row_names import unnamed
from budget_opt.randomizer.words import SeededWords
from tests.randomizer.clustered import block, columns_of, joint_of
from tests.randomizer.exact_counts import assert_binomial
from tests.randomizer.test_kernel import CountingWords

SHAPES = [(2, 2), (2, 3), (4, 4), (2, 2, 2), (5, 7), (3, 2, 4)]


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("shape", SHAPES)
def test_r1_all_16_bit_words_give_the_joint_matrix_exactly(shape: tuple[int, ...], bits: int) -> None:
    """Every joint truth, all 2^16 words w 2^(b-16), q a multiple of 2^(b-16): the counts are the matrix.

    The joint codes of truths and reports are numpy's, not ours.
    """
    r = int(np.prod(shape))
    c = -(-(2**16) // (2 * r))
    sampler = Sampler(r, bits, c << (bits - 16))
    for truth in {0, 1, r // 2, r - 1}:
        truths = [np.full(2**16, place, dtype=np.uint8) for place in np.unravel_index(truth, shape)]
        cells = block_cells(truths, shape, CHUNK_CELLS)
        randomize_block(cells, CountingWords(bits), RandomizedResponse(sampler))
        reports = np.ravel_multi_index([column.astype(np.int64) for column in cells.reports], shape)
        claimed = np.full(r, c)
        claimed[truth] = 2**16 - (r - 1) * c
        assert np.array_equal(np.bincount(reports, minlength=r), claimed)
        assert all(
            np.all(column == place)
            for column, place in zip(truths, np.unravel_index(truth, shape), strict=True)
        )


def test_r1_a_members_own_column_has_the_law_that_is_stated_of_it() -> None:
    """The counts of one member over all 2^16 words are those of its column's sampler."""
    shape = (3, 2, 4)
    sampler = Sampler(24, 32, 1000 << 16)
    made = AllocatedBlock(block("abc", shape, 1.0).block, 1.0, sampler)
    truths = [np.full(2**16, code, dtype=np.uint8) for code in (2, 0, 1)]
    cells = block_cells(truths, shape, CHUNK_CELLS)
    randomize_block(cells, CountingWords(32), RandomizedResponse(sampler))
    for name, report, truth, r in zip("abc", cells.reports, (2, 0, 1), shape, strict=True):
        own = made.column_sampler(name)
        assert own is not None
        expected = [int(own.other_probability * 2**16)] * r
        expected[truth] = int(own.truth_probability * 2**16)
        assert np.bincount(report, minlength=r).tolist() == expected


C = CHUNK_CELLS
WIDTHS = [(2, 3), (16, 16), (2, 129), (256, 256), (2, 32769), (100, 100, 100)]


@pytest.mark.parametrize("count", [0, 1, C - 1, C, C + 1, 2 * C + 7])
@pytest.mark.parametrize("shape", WIDTHS)
def test_r3_r4_under_zero_words_every_joint_code_changes_in_every_row(
    zero_words, shape: tuple[int, ...], count: int
) -> None:
    made = block([f"x{i}" for i in range(len(shape))], shape, 3.0)
    joint = (np.arange(count) * 7919) % made.cardinality
    columns = columns_of(made, joint)
    reports = SingleUse([made], zero_words).reports(columns, unnamed(count))
    assert np.array_equal(joint_of(made, reports), (joint + 1) % made.cardinality)
    assert np.array_equal(joint_of(made, columns), joint)
    assert [reports[name].dtype for name in made.names] == [columns[name].dtype for name in made.names]


@pytest.mark.parametrize("shape", WIDTHS)
@pytest.mark.parametrize("least_bits", [32, 128])
def test_r4_a_report_is_what_integers_say_of_its_joint_code(shape: tuple[int, ...], least_bits: int) -> None:
    made = block([f"x{i}" for i in range(len(shape))], shape, 12.0, least_bits=least_bits)
    r, sampler = made.cardinality, made.sampler
    assert sampler is not None
    joint = np.array([0, 1, r // 2, r - 2, r - 1] * 40)
    words = SeededWords(3).stream(b"words", sampler.bits).take(joint.size)
    whole = [int(w[1]) << 64 | int(w[0]) if sampler.bits == 128 else int(w) for w in words]

    class Given:
        def fill(self, target: np.ndarray) -> None:
            target[...] = words

    columns = columns_of(made, joint)
    cells = block_cells([columns[name] for name in made.names], shape, 1000)
    randomize_block(cells, Given(), RandomizedResponse(sampler))
    found = joint_of(made, dict(zip(made.names, cells.reports, strict=True)))
    assert found.tolist() == [sampler.report(int(x), word) for x, word in zip(joint, whole, strict=True)]


@given(st.lists(st.integers(0, 29), min_size=1, max_size=60), st.data())
def test_r5_a_changed_member_changes_reports_of_its_own_row_only(
    cells: list[int], data: st.DataObject
) -> None:
    made = block(("a", "b", "c"), (5, 2, 3), 2.0)
    row, name = data.draw(st.integers(0, len(cells) - 1)), data.draw(st.sampled_from(made.names))
    columns = columns_of(made, cells)
    changed = {other: column.copy() for other, column in columns.items()}
    changed[name][row] = (changed[name][row] + 1) % dict(zip(made.names, made.shape, strict=True))[name]
    first, second = (
        joint_of(made, SingleUse([made], SeededWords(1)).reports(one, unnamed(len(cells))))
        for one in (columns, changed)
    )
    assert np.flatnonzero(first != second).tolist() == [row]


@pytest.mark.parametrize("chunk", [1, 13, 999, 1000, 1001])
def test_the_reports_of_a_cluster_do_not_depend_on_the_chunks(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    made = block(("a", "b"), (300, 5), 5.0)
    columns = columns_of(made, np.arange(1000))
    whole = SingleUse([made], SeededWords(2)).reports(columns, unnamed(1000))
    monkeypatch.setattr(drawing, "CHUNK_CELLS", chunk)
    monkeypatch.setattr("budget_opt.randomizer.kernel.CHUNK_CELLS", chunk)
    again = SingleUse([made], SeededWords(2)).reports(columns, unnamed(1000))
    assert all(np.array_equal(whole[name], again[name]) for name in made.names)


@pytest.mark.parametrize("shape", [(2, 3), (256, 256), (2, 32769)])
def test_r36_without_a_sampler_a_clusters_report_is_uniform_and_looks_at_no_member(
    shape: tuple[int, int],
) -> None:
    made = block(("a", "b"), shape, 0.0)
    assert made.sampler is None
    rows = 6000
    drawn = [
        SingleUse([made], SeededWords(1)).reports(columns_of(made, np.full(rows, code)), unnamed(rows))
        for code in (0, 1, made.cardinality - 1)
    ]
    assert all(np.array_equal(drawn[0][name], other[name]) for other in drawn for name in made.names)
    first = np.bincount(drawn[0]["a"], minlength=shape[0])[:2]
    assert_binomial(first, rows, np.full(2, 1 / shape[0]))


def test_r9_real_words_give_the_joint_matrix_and_members_that_are_drawn_alone_do_not() -> None:
    """300,000 rows a truth, false alarm 1e-9; P(all members true) is 0.77, and 0.50 for members alone."""
    rows = 300_000
    made = block(("a", "b"), (4, 4), 4.0)
    assert made.sampler is not None
    claimed = np.full(16, float(made.sampler.other_probability))
    claimed[6] = float(made.sampler.truth_probability)
    columns = columns_of(made, np.full(rows, 6))
    counts = np.bincount(joint_of(made, SingleUse([made], SeededWords(9)).reports(columns, unnamed(rows))))
    assert_binomial(counts, rows, claimed)
    alone = [block((name,), (4,), 2.0) for name in made.names]
    counts = np.bincount(joint_of(made, SingleUse(alone, SeededWords(9)).reports(columns, unnamed(rows))))
    with pytest.raises(AssertionError):
        assert_binomial(counts, rows, claimed)


def test_r6_the_blocks_of_a_release_have_streams_of_their_own(zero_words) -> None:
    blocks = [block(("a", "b"), (2, 3), 1.0), block(("c",), (6,), 1.0), block(("d", "e"), (2, 3), 1.0)]
    SingleUse(blocks, zero_words)
    assert len(set(zero_words.asked)) == 3


def test_the_samplers_of_a_cluster_and_of_one_attribute_with_as_many_categories_are_equal() -> None:
    for shape, epsilon in itertools.product(SHAPES, (0.1, 1.0, 5.0)):
        assert block("abcd"[: len(shape)], shape, epsilon).sampler == sampler_for(
            epsilon, int(np.prod(shape))
        )
