"""Keyed words of a cluster: those of the row's name and joint code, shared by nothing: R5, R6, R33, R34, R36.

Joint tables of reports are compared with the product of the matrices' rows, as in `test_keyed_independence`:
false alarm at most 1e-9 each, and with 200,000 rows a joint probability that is off by 0.008 is found.
"""

from __future__ import annotations

import itertools
import pickle
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import AllocatedBlock
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.randomizer.cell_words import CHUNK_ROWS
from budget_opt.randomizer.context import keyed_context, report_purpose
from budget_opt.randomizer.drawing import Keyed
from budget_opt.randomizer.row_names import positions
from tests.randomizer.clustered import block, columns_of, joint_of
from tests.randomizer.exact_counts import assert_independent
from tests.randomizer.keyed_cells import hkdf, integer_name, names_of, release_under, word_by_hand

KEY = bytes(range(32))
ROWS = 200_000
PAIR = block(("a", "b"), (2, 3), 1.5)


def row_of(made: AllocatedBlock, truth: int) -> npt.NDArray[np.float64]:
    """P(report | truth) by joint code."""
    assert made.sampler is not None
    row = np.full(made.cardinality, float(made.sampler.other_probability))
    row[truth] = float(made.sampler.truth_probability)
    return row


def drawn(made: AllocatedBlock, truth: int, key: bytes = KEY, **named: Any) -> npt.NDArray[np.int64]:
    """The joint reports of the first rows, all of one joint code."""
    row_id = named.pop("row_id", None)
    keyed = Keyed([made], release_under(key, **named), row_id)
    columns = columns_of(made, np.full(ROWS, truth))
    return joint_of(made, keyed.reports(columns, positions(0, ROWS)))


@pytest.mark.parametrize("row_id", [None, "person"])
@pytest.mark.parametrize(
    ("shape", "least_bits"),
    [((2, 3), 32), ((16, 16), 64), ((2, 2, 5), 128), ((256, 256), 32), ((300, 300), 64)],
)
def test_r34_a_report_is_that_of_the_word_of_its_row_and_joint_code(
    shape: tuple[int, ...], least_bits: int, row_id: str | None
) -> None:
    made = block("abc"[: len(shape)], shape, 6.0, least_bits=least_bits)
    sampler, r = made.sampler, made.cardinality
    assert sampler is not None
    rows = (0, 1, -1, 2**63 - 1, 987654321987654321, 7, 2**64 - 1)
    codes = [0, 1, r - 1, r // 2, r - 2, 3, 0]
    reports = Keyed([made], release_under(KEY), row_id).reports(columns_of(made, codes), names_of(*rows))
    purpose = report_purpose([(one.name, one.domain) for one in made.members], sampler)
    key = hkdf(KEY, keyed_context("survey", 1, row_id, purpose))
    words = [
        word_by_hand(key, integer_name(row), code, sampler.bits)
        for row, code in zip(rows, codes, strict=True)
    ]
    expected = [sampler.report(code, word) for code, word in zip(codes, words, strict=True)]
    assert joint_of(made, reports).tolist() == expected


def with_domains(*members: tuple[str, Any], epsilon: float = 1.5, least_bits: int = 32) -> AllocatedBlock:
    declared = Block(tuple(Attribute(name, categories=categories) for name, categories in members))
    shaped = block(declared.names, declared.shape, epsilon, least_bits=least_bits)
    return AllocatedBlock(declared, epsilon, shaped.sampler)


BASE = with_domains(("a", ["x", "y"]), ("b", [1, 2, 3]))
OTHERS = {
    "epsilon": with_domains(("a", ["x", "y"]), ("b", [1, 2, 3]), epsilon=2.5),
    "width": with_domains(("a", ["x", "y"]), ("b", [1, 2, 3]), least_bits=64),
    "order of the members": with_domains(("b", [1, 2, 3]), ("a", ["x", "y"])),
    "name of a member": with_domains(("a", ["x", "y"]), ("c", [1, 2, 3])),
    "order of a member's categories": with_domains(("a", ["x", "y"]), ("b", [3, 2, 1])),
    "type of a member's categories": with_domains(("a", ["x", "y"]), ("b", ["1", "2", "3"])),
    "an attribute of that name and as many categories": with_domains(("a + b", 6)),
    "one member more": with_domains(("a", ["x", "y"]), ("b", [1, 2, 3]), ("c", 2)),
}


@pytest.mark.parametrize("change", OTHERS)
def test_r33_another_cluster_budget_or_width_has_words_of_its_own(change: str) -> None:
    other = OTHERS[change]
    first, second = drawn(BASE, 4), drawn(other, 4)
    assert_independent(first, second, (row_of(BASE, 4), row_of(other, 4)))


def test_r33_a_cluster_shares_no_words_with_its_members_released_alone() -> None:
    for name, categories, code in (("a", ["x", "y"], 1), ("b", [1, 2, 3], 1)):
        alone = with_domains((name, categories))
        assert_independent(drawn(BASE, 4), drawn(alone, code), (row_of(BASE, 4), row_of(alone, code)))


@pytest.mark.parametrize("named", [{"number": 2}, {"data": "Survey"}, {"row_id": "id"}])
def test_r33_other_releases_data_sets_and_names_of_rows_have_words_of_their_own(
    named: dict[str, Any],
) -> None:
    assert_independent(drawn(BASE, 4), drawn(BASE, 4, **named), (row_of(BASE, 4), row_of(BASE, 4)))


@pytest.mark.parametrize("after", [3, 5, 1, 0])
def test_r34_a_change_of_one_member_gives_all_members_independent_reports(after: int) -> None:
    """From (1, 1), code 4: to (1, 0), (1, 2) and (0, 1) one member changes, to (0, 0) both do."""
    key = secrets.token_bytes(32)
    assert_independent(drawn(BASE, 4, key), drawn(BASE, after, key), (row_of(BASE, 4), row_of(BASE, after)))


BLOCKS = [
    PAIR,
    block(("c",), (7,), 1.0),
    block(("d", "e", "f"), (2, 300, 2), 9.0, least_bits=64),
    block(("g", "h"), (2, 5), 0.0),
]
KEYED = Keyed(BLOCKS, release_under(KEY))
cells = st.tuples(st.integers(-(2**63), 2**64 - 1), st.integers(0, 1199))


def of_rows(rows: list[tuple[int, int]], keyed: Keyed = KEYED) -> dict[int, tuple[Any, ...]]:
    """Reports and order key of each row by its id; every block has the row's code, modulo its categories."""
    columns: dict[str, Any] = {}
    for made in BLOCKS:
        columns |= columns_of(made, np.array([code % made.cardinality for _, code in rows], dtype=np.int64))
    names = names_of(*(name for name, _ in rows))
    reports = keyed.reports(columns, names)
    listed = [*(reports[name].tolist() for name in sorted(reports)), keyed.order_keys(names).tolist()]
    return {rows[i][0]: tuple(str(column[i]) for column in listed) for i in range(len(rows))}


@given(st.lists(cells, unique_by=lambda cell: cell[0]), st.randoms(use_true_random=False), st.data())
def test_r34_slices_orders_and_retries_give_every_row_its_reports(
    rows: list[tuple[int, int]], random: Any, data: st.DataObject
) -> None:
    expected = of_rows(rows)
    shuffled = random.sample(rows, len(rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    parts = [shuffled[a:b] for a, b in itertools.pairwise([0, *cuts, len(rows)])]
    for part in [*parts, *random.sample(parts, len(parts))]:
        assert all(reports == expected[name] for name, reports in of_rows(part).items())


@given(st.lists(cells, min_size=1, unique_by=lambda cell: cell[0]), st.data())
def test_r5_r34_a_changed_cell_changes_reports_of_no_other_row(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    name, code = rows[place]
    before, after = of_rows(rows), of_rows([*rows[:place], (name, (code + 1) % 1200), *rows[place + 1 :]])
    assert {other for other in before if before[other] != after[other]} <= {name}
    # the blind reports of g and h, and the order key, look at no cell
    assert before[name][-3:] == after[name][-3:]


def test_r34_rows_at_the_edges_of_chunks_are_like_all() -> None:
    keyed, most = Keyed([PAIR], release_under(KEY)), 2 * CHUNK_ROWS + 7
    columns, rows = columns_of(PAIR, np.arange(most) % 6), positions(0, most)
    whole = joint_of(PAIR, keyed.reports(columns, rows))
    for row in (0, CHUNK_ROWS - 1, CHUNK_ROWS, 2 * CHUNK_ROWS - 1, 2 * CHUNK_ROWS, most - 1):
        one = slice(row, row + 1)
        part = keyed.reports({name: column[one] for name, column in columns.items()}, rows[one])
        assert joint_of(PAIR, part)[0] == whole[row]


def test_r34_a_pickled_copy_draws_the_same_and_the_order_of_blocks_does_not_matter() -> None:
    rows = [(i, i * 7 % 1200) for i in range(300)]
    expected = of_rows(rows)
    assert of_rows(rows, pickle.loads(pickle.dumps(KEYED))) == expected
    assert of_rows(rows, Keyed(BLOCKS[::-1], release_under(KEY))) == expected
    assert of_rows(rows, Keyed(BLOCKS, release_under(bytes(32)))) != expected


def test_r6_threads_that_share_a_drawing_draw_the_same() -> None:
    """Six threads over overlapping slices: a buffer of joint codes that two share would mix their rows."""
    rows, columns = positions(0, 40_000), columns_of(PAIR, np.arange(40_000) % 6)
    keyed = Keyed([PAIR], release_under(KEY))
    whole = joint_of(PAIR, keyed.reports(columns, rows))

    def differs(start: int) -> bool:
        part = slice(start, start + 20_000)
        reports = keyed.reports({name: column[part] for name, column in columns.items()}, rows[part])
        return not np.array_equal(joint_of(PAIR, reports), whole[part])

    with ThreadPoolExecutor(6) as pool:
        assert not any(pool.map(differs, range(0, 20_000, 1000)))


def test_r36_a_cluster_without_a_sampler_gives_the_same_reports_whatever_its_members_are() -> None:
    blind = block(("a", "b"), (3, 4), 0.0)
    keyed, rows = Keyed([blind], release_under(KEY)), positions(0, 2000)
    found = [
        joint_of(blind, keyed.reports(columns_of(blind, np.full(2000, code)), rows)) for code in range(12)
    ]
    assert all(np.array_equal(found[0], other) for other in found)
    assert set(found[0].tolist()) == set(range(12))
