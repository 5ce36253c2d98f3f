"""Joint tables of counts: one law however the rows are counted, in parts, with weights, or elsewhere."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.estimators.releases import count_checks
from budget_opt.estimators.releases.counting import Cells, Counts, cells_of_counts, codes_of, counts_of
from budget_opt.tables import counting
from budget_opt.tables.counting import index_type, joint_counts, joint_sums

Columns = list[np.ndarray[Any, Any]]


@st.composite
def coded_rows(draw: st.DrawFn) -> tuple[Columns, tuple[int, ...]]:
    """Columns of codes in various types; axes of length 1 and 256 included."""
    lengths = st.lists(st.sampled_from([1, 2, 3, 16, 17, 256]), min_size=1, max_size=3)
    shape = tuple(draw(lengths.filter(lambda shape: math.prod(shape) <= 1000)))
    n = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    types = [draw(st.sampled_from([np.uint8, np.uint16, np.int64])) for _ in shape]
    return [rng.integers(0, r, n).astype(kind) for r, kind in zip(shape, types, strict=True)], shape


def by_hand(columns: Columns, shape: Sequence[int], values: Any = None) -> Any:
    table = np.zeros(shape, dtype=np.int64 if values is None else np.float64)
    for row in range(columns[0].size):
        table[tuple(int(column[row]) for column in columns)] += 1 if values is None else values[row]
    return table


@given(coded_rows(), st.integers(1, 7))
def test_counts_and_sums_of_weights_are_those_of_a_loop_over_the_rows(
    rows: tuple[Columns, tuple[int, ...]], block: int
) -> None:
    columns, shape = rows
    weights = np.random.default_rng(1).integers(0, 9, columns[0].size).astype(np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BLOCK", block)
        assert np.array_equal(joint_counts(columns, shape), by_hand(columns, shape))
        counts, sums = joint_sums(columns, shape, (weights, weights**2))
    assert np.array_equal(counts, by_hand(columns, shape))
    assert np.array_equal(sums[0], by_hand(columns, shape, weights))
    assert np.array_equal(sums[1], by_hand(columns, shape, weights**2))


def test_an_index_is_as_small_as_the_cells_allow() -> None:
    assert [index_type(cells) for cells in (1, 256, 257, 2**16, 2**16 + 1)] == [
        np.uint8, np.uint8, np.uint16, np.uint16, np.uint32,
    ]  # fmt: skip


@given(coded_rows(), st.data())
def test_counts_of_parts_add_up_to_the_counts_of_the_whole(
    rows: tuple[Columns, tuple[int, ...]], data: st.DataObject
) -> None:
    columns, shape = rows
    names = [f"a{m}" for m in range(len(shape))]
    weights = np.random.default_rng(2).random(columns[0].size)
    cut = data.draw(st.integers(0, columns[0].size))

    def counted(part: slice, weighted: bool) -> Counts:
        codes = tuple(column[part] for column in columns)
        w = weights[part] if weighted else None
        return counts_of(Cells(codes, None, w, None if w is None else w**2), names, shape)

    for weighted in (False, True):
        whole = counted(slice(None), weighted)
        parts = counted(slice(cut), weighted) + counted(slice(cut, None), weighted)
        assert np.array_equal(parts.rows, whole.rows)
        assert parts.first == pytest.approx(whole.first)
        assert parts.second == pytest.approx(whole.second)
        # counting what has been counted changes nothing
        again = counts_of(whole.cells, names, shape)
        assert np.array_equal(again.rows, whole.rows)
        assert again.first == pytest.approx(whole.first)
        # and a margin is the count of fewer columns, in any order
        if len(shape) > 1:
            fewer = counts_of(
                Cells(tuple(columns[m] for m in (1, 0)), None, weights, weights**2),
                names[1::-1],
                shape[1::-1],
            )
            assert np.array_equal(whole.marginal(*names[1::-1]).rows, fewer.rows)
            assert not weighted or whole.marginal(*names[1::-1]).second == pytest.approx(fewer.second)


def test_the_margins_of_a_table_are_in_the_order_that_is_asked_for() -> None:
    rows = np.arange(24).reshape(2, 3, 4)
    table = Counts(("a", "b", "c"), rows, rows * 2.0, rows * 4.0, randomized_as=("x", "y", "z"))
    for order in (1, 2, 3):
        for names in itertools.permutations("abc", order):
            margin = table.marginal(*names)
            assert margin.attributes == names
            assert np.array_equal(margin.rows, np.einsum(f"abc->{''.join(names)}", rows))
            assert np.array_equal(margin.first, 2.0 * margin.rows)
            assert margin.randomized_as == tuple({"a": "x", "b": "y", "c": "z"}[name] for name in names)
    for wrong in ([], ["a", "a"], ["a", "d"]):
        with pytest.raises(InputError):
            table.marginal(*wrong)


def test_r30_counts_beyond_2_to_the_31_and_2_to_the_53_keep_every_digit() -> None:
    rows = [[2**40 + 1, 3], [2**61 + 1, 2**32 + 7]]
    table = Counts(("a", "b"), rows)
    assert table.n == sum(map(sum, rows))
    assert (table + Counts(("a", "b"), [[1, 0], [2, 0]])).rows.tolist() == [
        [2**40 + 2, 3],
        [2**61 + 3, 2**32 + 7],
    ]
    assert table.marginal("b").rows.tolist() == [2**61 + 2**40 + 2, 2**32 + 10]
    assert counts_of(table.cells, ("a", "b"), (2, 2)) == table
    assert Counts.from_dict(json.loads(json.dumps(table.to_dict()))) == table
    written = table.to_dict()["rows"]
    assert written == [2**40 + 1, 3, str(2**61 + 1), 2**32 + 7]
    # small tables many times over: a share of the rows is the same, and n is what it is
    many = counts_of(Cells((np.array([0, 1, 1]),), np.array([2**33, 5, 2**33])), ("a",), (2,))
    assert many.rows.tolist() == [2**33, 2**33 + 5]


@pytest.mark.parametrize(
    "rows",
    [
        [1, 2],
        (1, 2),
        *(np.array([1, 2], dtype=kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")),
        np.array([1, 2], dtype=object),
        np.array([1, 2], dtype=">i4"),
    ],
)
def test_counts_made_anywhere_are_taken(rows: Any) -> None:
    table = Counts(("a",), rows)
    assert table.rows.dtype == np.int64
    assert table.rows.tolist() == [1, 2]
    assert cells_of_counts(rows).n == 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([1.0, 2.0], "must be whole numbers >= 0"),
        ([1.5, 2], "must be whole numbers >= 0"),
        ([True, False], "must be whole numbers >= 0"),
        (["1", "2"], "must be whole numbers >= 0"),
        ([None, 1], "must be whole numbers >= 0"),
        ([[1, 2], [3]], "must be whole numbers >= 0"),
        ([-1, 2], "must be whole numbers >= 0"),
        (np.array([-1, 2], dtype=object), "must be whole numbers >= 0"),
        (3, "must be whole numbers >= 0"),
        ([2**63, 0], r"9,223,372,036,854,775,808 rows, at most 9,223,372,036,854,775,807"),
        ([2**62, 2**62], "9,223,372,036,854,775,808 rows"),
        (np.array([2**63, 2**63], dtype=np.uint64), "18,446,744,073,709,551,616 rows"),
        ([2**70, 1], "rows, at most"),
        ([10**5000, 1], "add up to more than 1e40 rows, at most"),
        (np.array([1, 2], dtype="m8[s]"), "must be whole numbers >= 0"),
        ([np.timedelta64(1, "s"), 2], "must be whole numbers >= 0"),
        ([True, 2], "must be whole numbers >= 0"),
        (np.ma.masked_array([1, 2], mask=[True, False]), "some cells are masked"),
    ],
)
def test_what_are_no_counts_is_refused(rows: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Counts(("a",), rows)


def test_r30_parts_whose_rows_pass_64_bits_do_not_add_up_in_silence() -> None:
    half = Counts(("a",), [2**62, 0])
    with pytest.raises(InputError, match="the parts have 9,223,372,036,854,775,808 rows"):
        half + half
    assert (half + Counts(("a",), [2**62 - 1, 0])).n == 2**63 - 1


@pytest.mark.parametrize(
    ("weights", "squares", "said"),
    [
        ([1.0, 2.0], None, "give both"),
        (None, [1.0, 2.0], "give both"),
        ([1.0], [1.0], r"the rows have shape \(2,\), the weights \(1,\)"),
        ([math.nan, 1], [1, 1], "the weights must be numbers from 0"),
        ([1, 1], [math.inf, 1], "the squares must be numbers from 0"),
        ([-1, 1], [1, 1], "the weights must be numbers from 0"),
        ([1e200, 1], [1, 1], "the weights must be numbers from 0"),
        (["a", 1], [1, 1], "the weights must be numbers from 0"),
        (["1", "1"], [1, 1], "the weights must be numbers from 0"),
        ([10**400, 1], [1, 1], "the weights must be numbers from 0"),
        (np.array([1, 1j]), [1, 1], "the weights must be numbers from 0"),
        (np.ma.masked_array([1.0, 2.0], mask=[True, False]), [1, 1], "some cells are masked"),
        ([2.1, 2.0], [2.0, 2.0], "in 1 cells no weights"),  # (sum w)^2 <= N sum w^2
        ([2.0, 2.0], [4.1, 2.0], "in 1 cells no weights"),  # sum w^2 <= (sum w)^2
        ([2.0, 2.0], [1.9, 1.9], "in 2 cells no weights"),
        ([0.0, 2.0], [1.0, 2.0], "in 1 cells no weights"),
    ],
)
def test_sums_that_no_weights_have_are_refused(weights: Any, squares: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Counts(("a",), [2, 2], weights, squares)


def test_a_cell_without_rows_has_no_weight() -> None:
    with pytest.raises(InputError, match="in 1 cells"):
        Counts(("a",), [2, 0], [2.0, 1.0], [2.0, 1.0])
    assert Counts(("a",), [2, 0], [2.0, 0.0], [2.0, 0.0]).effective == 2.0


@given(st.lists(st.floats(0, 1e100), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_the_sums_of_any_weights_are_taken(weights: list[float], seed: int) -> None:
    w = np.array(weights)
    codes = np.random.default_rng(seed).integers(0, 3, w.size)
    table = counts_of(Cells((codes,), None, w, w**2), ("a",), (3,))
    assert table.first == pytest.approx(by_hand([codes], (3,), w))
    if w.max() > 1e-100:
        assert 1 - 1e-9 <= table.effective <= w.size * (1 + 1e-9)
        assert table.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("attributes", "rows", "said"),
    [
        (("a",), [[1, 2]], "1 attributes are named, the table has 2 axes"),
        (("a", "b"), [1, 2], "2 attributes are named, the table has 1 axes"),
        (("a", "a"), [[1, 2]], "must be distinct names"),
        ((0,), [1, 2], "attributes must be a list of texts"),
        ("ab", [[1, 2]], "attributes must be a list of texts"),
        (5, [1, 2], "attributes must be a list of texts"),
        (None, [1, 2], "attributes must be a list of texts"),
        ({"a"}, [1, 2], "attributes must be a list of texts"),
    ],
)
def test_names_are_one_an_axis(attributes: Any, rows: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Counts(attributes, rows)
    with pytest.raises(InputError, match="one text an attribute"):
        Counts(("a",), [1, 2], randomized_as=("x", "y"))


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"randomized_as": 5}, "randomized_as must be a list of texts"),
        ({"randomized_as": (1,)}, "randomized_as must be a list of texts"),
        ({"notes": 5}, "notes must be a list of texts"),
        ({"notes": "abc"}, "notes must be a list of texts"),
        ({"weighted_by": 5}, "weighted_by must be the name of a column"),
    ],
)
def test_what_counts_say_of_themselves_is_text(stated: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Counts(("a",), [1, 2], **stated)


def test_counts_are_copies_that_nobody_can_write_to() -> None:
    given = [np.array([5, 7]), np.array([5.0, 7.0]), np.array([5.0, 7.0])]
    seen = given[0][:]
    seen.setflags(write=False)  # its memory is not
    for rows in (given[0], seen):
        table = Counts(("a",), rows, *given[1:])
        for one in given:
            one[0] = 0
        for kept in (table.rows, table.weights, table.squares):
            assert kept is not None
            assert kept[0] == 5
            with pytest.raises(ValueError, match="read-only"):
                kept[0] = 1
        assert table.marginal("a") == table
        assert table.unweighted().rows is table.rows
        for one in given:
            one[0] = 5


def test_a_list_of_counts_adds_up() -> None:
    one, other = Counts(("a",), [1, 2]), Counts(("a",), [3, 4])
    assert sum([one, other]) == Counts(("a",), [4, 6])
    for begin in (1, 0.0, False):
        with pytest.raises(TypeError):
            sum([one], begin)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Counts(("b",), [1, 2]), "do not add up"),
        (Counts(("a",), [1, 2, 3]), "do not add up"),
        (Counts(("a",), [1, 2], [1, 2], [1, 2]), "one part has survey weights and the other none"),
        (Counts(("a",), [1, 2], randomized_as=("y",)), "under allocations that differ"),
    ],
)
def test_tables_that_are_no_parts_of_one_release_do_not_add_up(other: Counts, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Counts(("a",), [3, 4], randomized_as=("x",)) + other
    with pytest.raises(TypeError):
        other + 3  # type: ignore[operator]
    assert (Counts(("a",), [3, 4]) + Counts(("a",), [1, 1], randomized_as=("x",))).randomized_as == ("x",)


def test_parts_with_different_weights_do_not_add_up() -> None:
    one, other = (Counts(("a",), [1, 2], [1, 2], [1, 2], weighted_by=name) for name in ("share", "size"))
    with pytest.raises(InputError, match="one part has the weights 'share' and the other 'size'"):
        one + other
    assert (one + Counts(("a",), [1, 2], [1, 2], [1, 2])).weighted_by == "share"
    assert one != other
    assert one.unweighted() == other.unweighted()


def test_counts_go_through_json_and_are_the_same() -> None:
    weights = np.array([[0.1, 0.0], [1e100, 2.5]])
    table = Counts(("a", "b"), [[1, 0], [1, 1]], weights, weights**2, ("x", "y"), weighted_by="w")
    document = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert Counts.from_dict(document) == table
    assert Counts.from_dict(document) != table.unweighted()
    assert table != "counts"
    plain = Counts(("a",), [1, 2])
    assert Counts.from_dict(json.loads(json.dumps(plain.to_dict()))) == plain


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("format", "budget-opt/allocation", "format"),
        ("version", 2, "version"),
        ("version", 1.0, "version must be the whole number 1"),
        ("attributes", "a", "must be a list of names"),
        ("attributes", [1], "must be a list of names"),
        ("shape", [2.0], "number of categories"),
        ("shape", [3], "rows must list 3 numbers"),
        ("shape", [10**5000], "at most 64 axes and 125,000,000 cells"),
        ("shape", 71 * [1] + [2], "at most 64 axes and 125,000,000 cells"),
        ("rows", [1], "rows must list 2 numbers"),
        ("rows", {"0": 1}, "rows must list 2 numbers"),
        ("rows", [1, "02"], "whole numbers"),
        ("rows", [1, "-2"], "whole numbers"),
        ("rows", [1, True], "whole numbers"),
        ("weights", [1.0, "2"], "weights must be numbers"),
        ("weights", [1.0, 2.0], "give both"),
        ("weights", [1, 10**400], "weights must be numbers"),
        ("randomized_as", "x", "must be a list of texts"),
        ("weighted_by", 3, "must be the name of a column"),
        ("more", 1, r"the fields \['more'\]"),
    ],
)
def test_a_document_that_is_no_counts_is_refused(field: str, value: object, said: str) -> None:
    document = Counts(("a",), [1, 2]).to_dict() | {field: value}
    with pytest.raises(InputError, match=said):
        Counts.from_dict(document)
    without = {name: one for name, one in document.items() if name not in (field, "rows")}
    with pytest.raises(InputError):
        Counts.from_dict(without)
    with pytest.raises(InputError, match="is a list, must be an object"):
        Counts.from_dict([1])  # type: ignore[arg-type]


def test_a_large_table_is_told_with_cells_and_bytes_and_a_larger_one_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(count_checks, "NOTED_BYTES", 8 * 24)
    monkeypatch.setattr(count_checks, "LARGEST_BYTES", 8 * 48)
    codes = np.array([0, 1], dtype=np.uint8)
    small, noted, large = (Cells((codes,) * w) for w in (1, 2, 3))
    assert counts_of(small, ("a",), (8,)).notes == ()
    (note,) = counts_of(noted, ("a", "b"), (8, 3)).notes
    assert note == "the joint table of a x b has 24 cells and takes 192 bytes"
    with pytest.raises(InputError, match="has 72 cells and takes 576 bytes; at most 384 bytes are allowed"):
        counts_of(large, ("a", "b", "c"), (8, 3, 3))
    weights = np.ones(2)
    with pytest.raises(InputError, match="24 cells and takes 576 bytes"):
        counts_of(Cells((codes, codes), None, weights, weights), ("a", "b"), (8, 3))


@given(st.lists(st.integers(1, 300), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_the_codes_of_a_cell_are_the_digits_of_its_number(shape: list[int], seed: int) -> None:
    index = np.random.default_rng(seed).integers(0, math.prod(shape), 20)
    found = codes_of(index, shape)
    for one, expected, r in zip(found, np.unravel_index(index, shape), shape, strict=True):
        assert np.array_equal(one, expected)
        assert one.dtype == index_type(r)


def test_a_category_that_never_occurs_has_its_place() -> None:
    table = counts_of(Cells((np.array([0, 2, 2]),)), ("a",), (4,))
    assert table.rows.tolist() == [1, 0, 2, 0]
    assert table.cells.codes[0].tolist() == [0, 2]
    assert table.shares.tolist() == [1 / 3, 0, 2 / 3, 0]


def test_counts_are_a_name_of_the_package() -> None:
    assert bo.Counts is Counts
