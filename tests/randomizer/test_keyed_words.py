"""Keyed words are AES-256 of (name of the row, code of the cell) under HKDF of the context: R7, R33, R36."""

from __future__ import annotations

import itertools
import pickle
import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import AllocatedBlock
from budget_opt.errors import RandomSourceError
from budget_opt.model.attribute import Attribute
from budget_opt.randomizer.context import keyed_context, report_purpose
from budget_opt.randomizer.drawing import Keyed, SingleUse, ascending, drawing_for
from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
from budget_opt.randomizer.row_names import positions
from budget_opt.randomizer.words import SeededWords
from tests.randomizer.exact_counts import assert_independent
from tests.randomizer.keyed_cells import (
    aes_block,
    attribute,
    by_name,
    codes_for,
    hkdf,
    integer_name,
    names_of,
    parts,
    release_under,
    word_by_hand,
)

KEY = bytes(range(32))
NAMES = (0, 1, -1, 2**63 - 1, -(2**63), 2**64 - 1, 987654321987654321)


def test_the_judges_give_the_published_vectors() -> None:
    """FIPS 197, appendix C.3; RFC 5869, appendix A.3, its first 32 bytes."""
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert aes_block(KEY, plain).hex() == "8ea2b7ca516745bfeafc49904b496089"
    assert hkdf(bytes([0x0B] * 22), b"").hex() == (
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    )


@pytest.mark.parametrize("row_id", [None, "person"])
@pytest.mark.parametrize(
    ("categories", "least_bits"), [(2, 32), (3, 64), (5, 128), (300, 32), (70_000, 64), (200, 128)]
)
def test_r34_a_report_is_that_of_the_word_of_its_row_and_its_own_code(
    categories: int, least_bits: int, row_id: str | None
) -> None:
    one = attribute("x", categories, 2.0, least_bits=least_bits)
    sampler = one.sampler
    assert sampler is not None
    assert sampler.bits == least_bits
    codes = [0, 1, categories - 1, 1, 0, categories // 2, categories - 2]
    drawn = Keyed(parts(by_name(one)), release_under(KEY), row_id).reports(
        codes_for(by_name(one), codes), names_of(*NAMES)
    )
    key = hkdf(KEY, keyed_context("survey", 1, row_id, report_purpose([("x", one.domain)], sampler)))
    for name, code, report in zip(NAMES, codes, drawn["x"], strict=True):
        word = word_by_hand(key, integer_name(name), code, sampler.bits)
        assert report == (code + min(word // sampler.q, categories - 1) + 1) % categories


SHARES = [0.5, 0.25, 0.15, 0.1]
MATRICES = {
    "background": Attribute("x", categories=4, background=SHARES),
    "known source": Attribute("x", categories=4, source={"distributions": [SHARES]}, epsilon=2.0),
    "uniform": Attribute("x", categories=4),
}


def block_with(matrix: str) -> AllocatedBlock:
    return AllocatedBlock.alone(MATRICES[matrix], 2.0, MATRICES[matrix].sampler(2.0))


@pytest.mark.parametrize("row_id", [None, "person"])
@pytest.mark.parametrize("matrix", MATRICES)
def test_r34_so_it_is_under_any_background_and_source(matrix: str, row_id: str | None) -> None:
    block, codes = block_with(matrix), [0, 1, 3, 1, 0, 2, 2]
    assert block.sampler is not None
    columns = {"x": np.array(codes, dtype=np.uint8)}
    drawn = Keyed([block], release_under(KEY), row_id).reports(columns, names_of(*NAMES))
    purpose = report_purpose([("x", MATRICES[matrix].domain)], block.sampler)
    key = hkdf(KEY, keyed_context("survey", 1, row_id, purpose))
    words = [
        word_by_hand(key, integer_name(name), code, block.sampler.bits)
        for name, code in zip(NAMES, codes, strict=True)
    ]
    by_hand = [block.sampler.report(code, word) for code, word in zip(codes, words, strict=True)]
    assert drawn["x"].tolist() == by_hand


@pytest.mark.parametrize("pair", [*itertools.combinations(MATRICES, 2)])
def test_r33_releases_under_two_matrices_share_no_word(pair: tuple[str, str]) -> None:
    """One epsilon, one key, 200,000 rows of one code: false alarm 1e-9, and 0.008 is found."""
    codes, rows = {"x": np.full(200_000, 1, dtype=np.uint8)}, positions(0, 200_000)
    blocks = [block_with(matrix) for matrix in pair]
    first, second = (Keyed([block], release_under(KEY)).reports(codes, rows)["x"] for block in blocks)
    laws = [
        np.array([float(block.sampler.probability(1, y)) for y in range(4)])
        for block in blocks
        if block.sampler is not None
    ]
    assert_independent(first, second, (laws[0], laws[1]))


def test_the_keys_of_the_row_order_are_whole_blocks_of_a_code_that_no_cell_has() -> None:
    attributes = by_name(attribute("b"), attribute("a", 2))
    keyed = Keyed(parts(attributes), release_under(KEY))
    purposes = [report_purpose([(n, attributes[n].domain)], attributes[n].sampler) for n in ("a", "b")]
    key = hkdf(KEY, keyed_context("survey", 1, None, ("row order", purposes)))
    for name, (low, high) in zip(NAMES, keyed.order_keys(names_of(*NAMES)).tolist(), strict=True):
        assert low | high << 64 == word_by_hand(key, integer_name(name), 2**32 - 1, 128)


def test_the_order_of_the_rows_is_another_one_for_another_allocation_but_not_for_other_columns_orders() -> (
    None
):
    release, rows = release_under(KEY), positions(0, 100)
    a, b = attribute("a"), attribute("b")
    order = Keyed(parts(by_name(a, b)), release).order_keys(rows)
    assert np.array_equal(order, Keyed(parts(by_name(b, a)), release).order_keys(rows))
    for others in (by_name(a), by_name(a, attribute("b", epsilon=2.0)), by_name(a, attribute("b", 4))):
        assert not np.any(order == Keyed(parts(others), release).order_keys(rows))


def test_r36_a_report_without_a_sampler_does_not_depend_on_the_cell() -> None:
    blind = attribute("x", 5, 0.0)
    assert blind.sampler is None
    keyed = Keyed(parts(by_name(blind)), release_under(KEY))
    rows = positions(0, 1000)
    drawn = [keyed.reports(codes_for(by_name(blind), np.full(1000, code)), rows)["x"] for code in range(5)]
    assert all(np.array_equal(drawn[0], other) for other in drawn)
    assert len(set(drawn[0].tolist())) == 5
    key = hkdf(KEY, keyed_context("survey", 1, None, report_purpose([("x", blind.domain)], None)))
    q = -(-(2**64) // 5)
    assert drawn[0][:50].tolist() == [
        min(word_by_hand(key, integer_name(row), 0, 64) // q, 4) for row in range(50)
    ]


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1]))))
def test_rows_ascend_by_the_high_half_of_their_keys_then_by_the_low_one(keys: list[tuple[int, int]]) -> None:
    array = np.array(keys, dtype=np.uint64).reshape(-1, 2)
    order = ascending(array)
    assert order.tolist() == sorted(range(len(keys)), key=lambda i: (keys[i][1], keys[i][0], i))


@pytest.mark.parametrize("method", ["reports", "order_keys"])
def test_r7_a_cipher_that_fails_or_gives_too_little_stops_the_release(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    class Broken:
        def __init__(self, given: int | None) -> None:
            self.given = given

        def update_into(self, blocks: Any, target: Any) -> int:
            if self.given is None:
                raise ValueError("out of order")
            return self.given

    one = by_name(attribute())
    keyed, rows = Keyed(parts(one), release_under(KEY)), positions(0, 3)
    for broken in map(Broken, (None, 0, 32, 47)):
        monkeypatch.setattr("budget_opt.randomizer.drawing.cipher_under", lambda key, b=broken: b)
        with pytest.raises(RandomSourceError, match="the cipher"):
            keyed.order_keys(rows) if method == "order_keys" else keyed.reports(codes_for(one, [0] * 3), rows)


def test_r6_a_closed_drawing_draws_nothing_and_forgets_its_keys() -> None:
    one = by_name(attribute())
    keyed = Keyed(parts(one), release_under(KEY))
    keyed.close()
    for draw in (
        lambda: keyed.reports(codes_for(one, [0]), positions(0, 1)),
        lambda: keyed.order_keys(positions(0, 1)),
    ):
        with pytest.raises(RandomSourceError, match="closed"):
            draw()
    assert not any(len(value) == 32 for value in vars(keyed).values() if isinstance(value, bytes))


def test_nothing_of_a_drawing_shows_a_key_and_its_pickle_has_not_the_releases() -> None:
    key = secrets.token_bytes(32)
    keyed = Keyed(parts(by_name(attribute())), release_under(key))
    derived = keyed._open()[0].key
    assert key not in pickle.dumps(keyed)
    assert derived != key
    assert repr(keyed) == str(keyed) == "Keyed()"
    assert not any(
        repr(derived) in repr(value) for value in vars(keyed).values() if value != keyed._order_key
    )
    with pytest.raises(AttributeError):
        keyed.key  # noqa: B018


def test_the_words_of_a_test_and_a_kept_key_exclude_each_other() -> None:
    one = by_name(attribute())
    with pytest.raises(ValueError, match="not both"):
        drawing_for(parts(one), SeededWords(1), KeyedRows(KeyedRelease("survey")))
    assert isinstance(drawing_for(parts(one)), SingleUse)
    assert isinstance(drawing_for(parts(one), None, KeyedRows(KeyedRelease("survey"))), Keyed)


def test_no_rows_have_no_reports_and_no_keys() -> None:
    one = by_name(attribute())
    keyed = Keyed(parts(one), release_under(KEY))
    assert keyed.reports(codes_for(one, []), positions(0, 0))["x"].shape == (0,)
    assert keyed.order_keys(positions(0, 0)).shape == (0, 2)
