"""The strength of a link: what statistics calls it for pairs, one definition for everything beyond."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

import budget_opt as bo
from budget_opt.estimators.strengths.links import Axis, link

ROUNDING = 1e-9


@st.composite
def tables(draw, order: tuple[int, int] = (2, 3)):
    """A table of counts in which no category and no spread is empty."""
    shape = draw(st.lists(st.integers(2, 4), min_size=order[0], max_size=order[1]))
    cells = st.integers(0, 40)
    counts = np.array(draw(st.lists(cells, min_size=math.prod(shape), max_size=math.prod(shape))))
    return counts.reshape(shape) + np.eye(1, math.prod(shape), dtype=int).reshape(shape) + 1


def axes_of(counts, kinds):
    """`kinds`: for each axis scores, or None."""
    shares = counts / counts.sum()
    return [
        Axis(shares.sum(axis=tuple(m for m in range(counts.ndim) if m != axis)), scores)
        for axis, scores in enumerate(kinds)
    ]


def strength(counts, kinds):
    return link(counts / counts.sum(), axes_of(counts, kinds)).strength


def indices(counts):
    return [tuple(float(i) for i in range(r)) for r in counts.shape]


def rows_of(counts):
    """The codes of the records, one column an attribute."""
    cells = np.array(list(product(*map(range, counts.shape))))
    return np.repeat(cells, counts.reshape(-1), axis=0)


@given(tables(order=(2, 2)))
def test_of_two_nominal_attributes_it_is_cramers_v(counts):
    assert strength(counts, [None, None]) == pytest.approx(association(counts), abs=ROUNDING)


@given(tables(order=(2, 2)))
def test_of_two_scored_attributes_it_is_the_size_of_the_correlation(counts):
    expected = abs(np.corrcoef(rows_of(counts).T)[0, 1])
    assert strength(counts, indices(counts)) == pytest.approx(expected, abs=ROUNDING)


@given(tables(order=(2, 2)))
def test_of_a_nominal_and_a_scored_attribute_it_is_the_correlation_ratio(counts):
    groups, score = rows_of(counts).T
    within = sum(((score[groups == g] - score[groups == g].mean()) ** 2).sum() for g in np.unique(groups))
    expected = math.sqrt(max(0.0, 1 - within / ((score - score.mean()) ** 2).sum()))
    assert strength(counts, [None, indices(counts)[1]]) == pytest.approx(expected, abs=1e-7)


@given(tables(order=(3, 3)))
def test_of_three_scored_attributes_it_is_the_size_of_the_standardized_moment(counts):
    rows = rows_of(counts)
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    expected = abs(z.prod(axis=1).mean())
    assert strength(counts, indices(counts)) == pytest.approx(expected, abs=ROUNDING)


@given(tables(), st.lists(st.booleans(), min_size=3, max_size=3), st.integers(0, 2**32 - 1))
def test_it_is_the_norm_of_the_moments_of_any_orthonormal_functions(counts, nominal, seed):
    """Functions by Gram-Schmidt of random ones: nothing depends on which."""
    kinds = [None if flag else f for flag, f in zip(nominal, indices(counts), strict=False)]
    axes = axes_of(counts, kinds)
    draws = np.random.default_rng(seed)
    tensor = counts / counts.sum()
    for m, axis in enumerate(axes):
        root = np.sqrt(axis.share)
        wanted = draws.normal(size=(root.size, root.size - 1)) if axis.scores is None else [*zip(axis.scores)]
        basis, _ = np.linalg.qr(np.column_stack([root, root[:, None] * np.array(wanted)]))
        psi = basis[:, 1:] / root[:, None]
        tensor = np.moveaxis(np.moveaxis(tensor, m, -1) @ psi, -1, m)
    freedoms = sorted(tensor.shape)
    expected = np.linalg.norm(tensor) / math.sqrt(math.prod(freedoms[:-1]))
    assert strength(counts, kinds) == pytest.approx(expected, abs=ROUNDING)


@given(tables(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_what_noise_alone_gives_is_exactly_what_the_map_makes_of_single_cells(counts, nominal):
    """The root mean square for independent noise of variance 1 a cell: the root of the sum of squares."""
    kinds = [None if flag else f for flag, f in zip(nominal, indices(counts), strict=False)]
    axes = axes_of(counts, kinds)
    energy = 0.0
    for cell in np.eye(counts.size).reshape(-1, *counts.shape):
        tensor = cell
        for m, axis in enumerate(axes):
            tensor = axis.contracted(tensor, m)
        energy += np.linalg.norm(tensor) ** 2
    freedoms = sorted(axis.freedom for axis in axes)
    scale = math.sqrt(math.prod(freedoms[:-1]))
    found = link(counts / counts.sum(), axes, variance=1.0)
    assert found.noise == pytest.approx(math.sqrt(energy) / scale, rel=1e-9)


@pytest.mark.parametrize("r", [2, 3, 7])
def test_of_one_attribute_it_is_the_distance_from_the_uniform_background(r):
    axis = Axis(np.full(r, 1 / r), None)
    assert link(np.full(r, 1 / r), [axis]).strength == 0.0
    assert link(np.eye(r)[1], [axis]).strength == pytest.approx(1.0)
    noise = link(np.full(r, 1 / r), [axis], variance=1.0).noise
    assert noise == pytest.approx(math.sqrt(r * r / (r - 1)))


@pytest.mark.parametrize("kinds", [[None, None, None], [(0.0, 1.0, 5.0), None, None], [(0.0, 1.0, 5.0)] * 3])
def test_exact_independence_has_strength_zero_at_every_order(kinds):
    shares = [np.array([1, 2, 5]), np.array([3, 1, 7]), np.array([2, 2, 1])]
    counts = np.einsum("i,j,k->ijk", *shares)
    assert strength(counts, kinds) == 0.0
    assert strength(counts.sum(axis=2), kinds[:2]) == 0.0


def test_a_perfect_link_has_strength_one_and_not_a_hair_more():
    for kinds in ([None, None], [None, (0.0, 1.0, 7.0)], [(3.0, 1.0, 7.0)] * 2):
        assert strength(np.diag([3, 17, 41]), kinds) == pytest.approx(1.0, abs=1e-12)
        assert strength(np.diag([3, 17, 41]), kinds) <= 1.0


def test_a_category_that_does_not_occur_changes_nothing():
    counts = np.array([[12, 3, 8], [2, 14, 9]])
    wider = np.zeros((3, 5), dtype=int)
    wider[:2, [0, 2, 4]] = counts
    assert strength(wider, [None, None]) == pytest.approx(strength(counts, [None, None]), rel=1e-12)
    assert strength(np.array([[5, 7], [0, 0]]), [None, None]) == 0.0
    assert strength(np.array([[5, 7], [0, 0]]), [(0.0, 1.0), (0.0, 1.0)]) == 0.0


def test_scores_of_any_size_give_the_same_strength():
    counts = np.array([[12, 3, 8], [2, 14, 9]])
    plain = strength(counts, [(0.0, 1.0), (0.0, 1.0, 3.0)])
    assert strength(counts, [(0.0, 1e100), (0.0, -1e99, -3e99)]) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("name", ["alcohol", "adult", "german_credit"])
def test_the_strengths_of_the_reference_tables_are_those_of_their_truth_files(name, shared_data):
    """Every pair and the 30 largest triples; the files have 12 digits."""
    schema = json.loads((shared_data / f"{name}.schema.json").read_text("utf-8"))
    truth = json.loads((shared_data / f"{name}.truth.json").read_text("utf-8"))
    table = pd.read_csv(shared_data / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    columns = [column for column in schema["columns"] if column["name"] in truth["attributes"]]
    scored = []
    for column in columns:
        if "bin_edges" in column:
            table[column["name"]] = pd.to_numeric(table[column["name"]])
            codes = [float(code) for code in range(column["cardinality"])]
            scored.append(bo.Attribute(column["name"], bins=column["bin_edges"], scores=codes))
        else:
            scored.append(bo.Attribute(column["name"], categories=column["categories"], ordered=True))
    nominal = [one.with_fields(ordered=False) for one in scored if one.bins is None and one.cardinality > 2]
    triples = [bo.CrossMoment(*key.split("|")) for key in truth["three_way_standardized"]]
    for attributes, moments, key in (
        (scored, bo.all_pairs([one.name for one in scored]), "correlation"),
        (nominal, bo.all_pairs([one.name for one in nominal]), "cramers_v"),
        (scored, triples, "three_way_standardized"),
    ):
        problem = bo.Problem(attributes=attributes, moments=moments, total_epsilon=3.0)
        found = bo.observed_strengths(table, problem).strengths
        assert len(found) == len(moments) >= 6
        for names, value in found.items():
            stated = truth[key]["|".join(names)] if len(names) == 3 else truth[key][names[0]][names[1]]
            assert value == pytest.approx(abs(stated), abs=2e-12)


@given(st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any), st.floats(0.05, 0.95))
def test_of_one_attribute_it_is_the_distance_from_its_background_and_retention_multiplies_it(counts, kept):
    p, q = np.array(counts) / sum(counts), np.array([0.5, 0.3, 0.2])
    released = kept * p + (1 - kept) * q
    found, after = (link(shares, [Axis(shares, None, q)]).strength for shares in (p, released))
    assert found == pytest.approx(math.sqrt(np.sum((p - q) ** 2 / q) / 4), abs=ROUNDING)
    assert after == pytest.approx(kept * found, abs=1e-8)
    assert link(q, [Axis(q, None, q)]).strength == 0.0
    assert link(np.eye(3)[2], [Axis(np.eye(3)[2], None, q)]).strength == pytest.approx(1.0)
