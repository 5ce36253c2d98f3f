"""What a whole record shows of one attribute under a public joint: by brute force, and on Adult."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

import budget_opt as bo
from budget_opt.accounting.joint import MOST_CELLS, whole_numbers
from budget_opt.api.joint_files import read_joint
from budget_opt.mechanisms.exact import exact, log_at_least
from tests.accounting.meaning_problems import allocation_of, learned_of, likelihoods, marginal

EPSILONS = st.sampled_from([0.0, 0.01, 0.5, 1.0, 3.0, 20.0])
Cells = dict[tuple[int, ...], Fraction]


@st.composite
def cases(draw: st.DrawFn) -> tuple[bo.Allocation, np.ndarray, Cells]:
    """A small allocation and a joint of all its attributes, often with empty cells."""
    sizes = draw(st.sampled_from([(2, 2), (3, 2), (2, 3, 2), (4, 2, 2), (2, 2, 2, 2)]))
    allocation = allocation_of(sizes, [draw(EPSILONS) for _ in sizes])
    cells = math.prod(sizes)
    counts = draw(st.lists(st.integers(0, 6), min_size=cells, max_size=cells).filter(any))
    table = np.array(counts).reshape(sizes)
    joint = {
        where: Fraction(int(table[where]), sum(counts)) for where in itertools.product(*map(range, sizes))
    }
    return allocation, table, joint


@given(cases())
@settings(max_examples=60)
def test_odds_and_guesses_are_those_of_every_record_under_every_report(
    case: tuple[bo.Allocation, np.ndarray, Cells],
) -> None:
    allocation, table, joint = case
    names = tuple(one.name for one in allocation.attributes)
    found = learned_of(allocation, names, table)
    assert found.attributes == names
    for axis, learned in enumerate(found.learned):
        shares, reports = marginal(joint, axis), likelihoods(allocation, joint, axis)
        odds = max(
            seen[v] * shares[w] / (seen[w] * shares[v])
            for seen in reports.values()
            for v in shares
            for w in shares
        )
        assert learned.log_odds == log_at_least(odds)
        guess = sum((max(seen.values()) for seen in reports.values()), Fraction(0))
        assert exact(learned.guess_with) >= guess
        assert learned.guess_with <= float(guess) * (1 + 1e-15)
        assert exact(learned.guess_without) >= max(shares.values())
        impossible = [v for v in range(table.shape[axis]) if v not in shares]
        assert learned.impossible == tuple(allocation[names[axis]].domain.labels[v] for v in impossible)
        if odds > 1:
            best = max(
                seen[learned.more] * shares[learned.less] / (seen[learned.less] * shares[learned.more])
                for seen in reports.values()
            )
            assert best == odds


@given(cases())
@settings(max_examples=60)
def test_the_whole_record_shows_at_least_its_own_column_and_at_most_its_total(
    case: tuple[bo.Allocation, np.ndarray, Cells],
) -> None:
    allocation, table, joint = case
    names = tuple(one.name for one in allocation.attributes)
    found = learned_of(allocation, names, table)
    for axis, learned in enumerate(found.learned):
        if len(marginal(joint, axis)) < 2:
            assert learned.log_odds == learned.log_odds_with_others == 0.0
            assert learned.more is learned.less is None
            continue
        assert learned.own_loss <= learned.log_odds <= found.sum_loss <= allocation.loss
        assert learned.log_odds_with_others == learned.log_odds
        assert learned.guess_without <= learned.guess_own <= learned.guess_with


@given(cases())
@settings(max_examples=40)
def test_columns_outside_the_joint_are_bounded_by_their_losses(
    case: tuple[bo.Allocation, np.ndarray, Cells],
) -> None:
    """The bound for the whole record is above what the joint of all attributes shows, whichever it is."""
    allocation, table, _ = case
    names = tuple(one.name for one in allocation.attributes)
    if len(names) < 3:
        return
    some = table.sum(axis=-1)
    whole, part = learned_of(allocation, names, table), learned_of(allocation, names[:-1], some)
    assert part.others == allocation.attributes[-1].loss
    for of_part, of_whole in zip(part.learned, whole.learned, strict=False):
        assert of_part.log_odds <= of_whole.log_odds + 1e-12
        assert of_whole.log_odds <= of_part.log_odds_with_others


@given(cases(), st.integers(1, 9))
@settings(max_examples=4)
def test_counts_shares_and_their_multiples_say_the_same(
    case: tuple[bo.Allocation, np.ndarray, Cells], times: int
) -> None:
    allocation, table, _ = case
    names = tuple(one.name for one in allocation.attributes)
    said = [
        bo.meaning(allocation, joint={names: one}).joints
        for one in (table, table * times, table / 4, (table * 0.5).tolist(), table.astype(object))
    ]
    assert all(one == said[0] for one in said)


@given(cases())
@settings(max_examples=20)
def test_independent_attributes_show_no_more_than_their_own_column(
    case: tuple[bo.Allocation, np.ndarray, Cells],
) -> None:
    allocation, table, _ = case
    names = tuple(one.name for one in allocation.attributes)
    product = np.ones(table.shape, dtype=int)
    for axis in range(table.ndim):
        others = tuple(m for m in range(table.ndim) if m != axis)
        product *= np.expand_dims(table.sum(axis=others) + 1, others)
    found = learned_of(allocation, names, product)
    for learned in found.learned:
        assert learned.log_odds == learned.own_loss
        assert learned.guess_with == learned.guess_own


def test_more_epsilon_never_shows_less() -> None:
    table = np.random.default_rng(1).integers(0, 9, (3, 2, 4))
    found = [
        learned_of(allocation_of([3, 2, 4], [e, 1.0, e]), ("a", "b", "c"), table)
        for e in (0.0, 0.1, 1.0, 2.0, 9.0)
    ]
    for one, more in itertools.pairwise(found):
        for learned, of_more in zip(one.learned, more.learned, strict=True):
            assert learned.log_odds <= of_more.log_odds
            assert learned.guess_with <= of_more.guess_with


def adult(shared_data: Path, names: list[str]) -> tuple[bo.Allocation, np.ndarray]:
    """Adult at epsilon 1 each, and the counts of its records."""
    schema = json.loads((shared_data / "adult.schema.json").read_text())
    categories = {one["name"]: one.get("categories") for one in schema["columns"]}
    problem = bo.Problem(
        total_epsilon=float(len(names)),
        attributes=[bo.Attribute(name, categories=categories[name], epsilon=1.0) for name in names],
        moments=[bo.CrossMoment(*names)],
    )
    text = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), include_columns=names, strings_can_be_null=False
    )
    table = csv.read_csv(shared_data / "adult.csv.gz", convert_options=text)
    counts = np.zeros([len(categories[name]) for name in names], dtype=np.int64)
    codes = [[categories[name].index(cell) for cell in table[name].to_pylist()] for name in names]
    np.add.at(counts, tuple(codes), 1)
    return bo.uniform(problem), counts


def test_on_adult_the_whole_record_moves_the_odds_of_marital_status_by_e_2_64_and_its_column_by_e(
    shared_data: Path,
) -> None:
    """Issue 6, item 5: with relationship and sex at epsilon 1 each."""
    names = ["marital-status", "relationship", "sex"]
    allocation, counts = adult(shared_data, names)
    assert counts.sum() == 32_561
    found = bo.meaning(allocation, joint={tuple(names): counts})
    marital = found.joints[0].learned[0]
    assert round(marital.log_odds, 2) == 2.64
    assert marital.own_loss == pytest.approx(1.0, abs=1e-8)
    assert (marital.more, marital.less) == ("Married-civ-spouse", "Widowed")
    assert found.record.odds_factor == pytest.approx(math.exp(3), rel=1e-8)
    assert "2.638" in str(found)
    # the same in floating point, with a dense matrix, in another order of the work
    P = [
        np.full((r, r), 1 / (math.e + r - 1)) + np.eye(r) * (math.e - 1) / (math.e + r - 1)
        for r in counts.shape
    ]
    seen = np.einsum("abc,ax,by,cz->axyz", counts / counts.sum(axis=(1, 2), keepdims=True), *P)
    ratio = np.log(seen.max(axis=0) / seen.min(axis=0)).max()
    assert marital.log_odds == pytest.approx(ratio, abs=1e-7)


def test_values_that_a_joint_excludes_are_named_and_not_counted() -> None:
    allocation = allocation_of([3, 2], [1.0, 1.0])
    found = bo.meaning(allocation, joint={("a", "b"): [[5, 1], [0, 0], [1, 5]]})
    learned = found.joints[0].learned[0]
    assert learned.impossible == (1,)
    assert "a: left out, as the joint says that nobody has them: 1." in str(found)
    sure = bo.meaning(allocation, joint={("a", "b"): [[5, 1], [0, 0], [0, 0]]}).joints[0].learned[0]
    assert (sure.log_odds, sure.guess_without, sure.guess_with) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("joint", "said"),
    [
        ({("a", "x"): [[1, 1]] * 3}, "joint: 'x' is not an attribute"),
        ({("a",): [1, 1, 1]}, "at least two distinct attributes"),
        ({("a", "a"): np.ones((3, 3))}, "at least two distinct attributes"),
        ({"ab": np.ones((3, 2))}, "at least two distinct attributes"),
        ({("a", "b"): np.ones((2, 3))}, r"has the shape \(2, 3\), must have \(3, 2\)"),
        ({("a", "b"): -np.ones((3, 2))}, "must be finite numbers >= 0"),
        ({("a", "b"): np.zeros((3, 2))}, "not all of them 0"),
        ({("a", "b"): np.full((3, 2), np.nan)}, "must be finite numbers >= 0"),
        ({("a", "b"): np.full((3, 2), np.inf)}, "must be finite numbers >= 0"),
        ({("a", "b"): [["x", 1]] * 3}, "must be a number"),
        ({("a", "b"): np.ones((3, 2), dtype=bool)}, "must be a number"),
        ({("a", "b"): [[1, 2], [3]]}, r"has the shape \(0,\), must have"),
        ({("a", "b"): 7}, "has the shape of a single number"),
        ({(("a",), ("b",)): [[1, 1]] * 3}, "is not an attribute"),
        ([1, 2], "joint: is a list, must be a Mapping"),
    ],
)
def test_r13_a_joint_that_does_not_fit_is_refused_by_name(joint: object, said: str) -> None:
    with pytest.raises(bo.InputError, match=said):
        bo.meaning(allocation_of([3, 2], [1.0, 1.0]), joint=joint)


def test_a_joint_of_too_many_cells_is_refused_before_anything_is_computed() -> None:
    allocation = allocation_of([600, 600], [1.0, 1.0])
    with pytest.raises(bo.InputError, match=f"has 360,000 cells, must have at most {MOST_CELLS:,}"):
        bo.meaning(allocation, joint={("a", "b"): [[1]]})


def labelled() -> bo.Allocation:
    return bo.uniform(
        bo.Problem(
            total_epsilon=2.0,
            attributes=[
                bo.Attribute("smoker", categories=["no", "yes"]),
                bo.Attribute("age", bins=[18, 30, 65], missing="category", missing_score=24),
            ],
            moments=[bo.CrossMoment("smoker", "age")],
            public=[bo.PublicColumn("wave", why="the same for everybody")],
        )
    )


def test_a_joint_in_a_file_has_labels_and_one_column_of_counts(tmp_path: Path) -> None:
    path = tmp_path / "joint.csv"
    path.write_text('age,how many,smoker\n"[18, 30)",3,no\n"[30, 65]",1.5,yes\n,2,no\n"[18, 30)",1,no\n')
    (found,) = read_joint(path, labelled()).items()
    assert found[0] == ("smoker", "age")
    assert found[1].tolist() == [[4.0, 0.0, 2.0], [0.0, 1.5, 0.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("smoker,age\nno,\n", "2 columns that are attributes and 0 others"),
        ("smoker,count\nno,1\n", "1 columns that are attributes and 1 others"),
        ("smoker,age,count,more\nno,,1,1\n", "2 columns that are attributes and 2 others"),
        ("smoker,age,count\nno,,x\n", "column 'count' must hold counts or shares"),
        ("smoker,age,count\nno,,-1\n", "column 'count' must hold counts or shares"),
        ("smoker,age,count\nno,,nan\n", "column 'count' must hold counts or shares"),
        ("smoker,age,count\nno,,\n", "column 'count' must hold counts or shares"),
        ("smoker,age,count\nperhaps,,1\n", "column 'smoker'.* The labels of the allocation are: no; yes"),
        ("smoker,age,count\nno,18,1\n", r"are: \[18, 30\); \[30, 65\]"),
        ("smoker,age,wave,count\nno,,1,1\n", "wave is released as it is, so everybody knows its value"),
    ],
)
def test_a_file_that_is_no_joint_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "joint.csv"
    path.write_text(text)
    with pytest.raises(bo.DataError, match=said) as told:
        read_joint(path, labelled())
    assert "perhaps" not in str(told.value)


def test_shares_are_the_decimals_that_stand_there() -> None:
    found = whole_numbers(np.array([[0.1, 0.25], [0.3, 0.0]]))
    assert found.tolist() == [[2, 5], [6, 0]]
    assert whole_numbers(np.array([2**62, 0, 2**61])).tolist() == [2**62, 0, 2**61]
