"""Clusters in the problem: what may be one, and what becomes of it in the arrays (DESIGN 2.3, 2.9)."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.model.clusters.block import Block


def problem(**changes: Any) -> bo.Problem:
    fields: dict[str, Any] = {
        "attributes": [
            bo.Attribute("smoker", categories=2, epsilon_min=0.3),
            bo.Attribute("income", categories=5, epsilon_max=2.5),
            bo.Attribute("age", categories=4),
            bo.Attribute("region", categories=3, epsilon_max=1.0),
        ],
        "moments": [
            bo.CrossMoment("smoker", "income", weight=3.0),
            bo.CrossMoment("income", "age", floor=0.1),
            bo.CrossMoment("smoker", "income", "region"),
        ],
        "groups": [{"name": "g", "attributes": ["income", "smoker", "age"], "epsilon_max": 2.2}],
        "total_epsilon": 4.0,
    }
    return bo.Problem(**(fields | changes))


def test_a_cluster_stands_where_its_first_member_stands_and_codes_in_the_order_it_is_listed_in() -> None:
    found = problem(clusters=[["age", "income"]])
    assert found.block_names == ("smoker", "age + income", "region")
    block = found.block_of("income")
    assert (block.names, block.shape, block.cardinality) == (("age", "income"), (4, 5), 20)


def test_without_clusters_every_attribute_is_a_block_and_nothing_of_the_arrays_changes() -> None:
    plain = problem()
    arrays = plain.arrays
    assert plain.block_names == plain.names
    assert (arrays.incidence != arrays.spread_incidence).nnz == 0
    assert arrays.spread_block.tolist() == [0, 1, 2, 3]
    assert "clusters" not in plain.to_dict()


def test_the_arrays_have_one_entry_a_block_and_each_touched_block_once() -> None:
    arrays = problem(clusters=[["smoker", "income"]]).arrays
    assert arrays.cardinality.tolist() == [10, 4, 3]
    assert arrays.lower.tolist() == [0.3, 0, 0]
    assert arrays.stated_upper.tolist() == [2.5, math.inf, 1.0]
    # the group pays the cluster's epsilon once, though two of its members are in it
    total, group = arrays.budgets
    assert (total.members.tolist(), group.members.tolist()) == ([0, 1, 2], [0, 1])
    assert arrays.upper.tolist() == [2.2, 1.9, 1.0]
    assert arrays.incidence.toarray().tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]


def test_bounds_of_a_cluster_are_the_tightest_of_its_members_and_a_pin_of_one_pins_all() -> None:
    pinned = problem(
        attributes=[
            bo.Attribute("a", categories=2, epsilon=1.5),
            bo.Attribute("b", categories=2, epsilon_min=1.0, epsilon_max=3.0),
        ],
        moments=[bo.CrossMoment("a", "b")],
        groups=[],
        clusters=[["a", "b"]],
    )
    assert (pinned.blocks[0].lower, pinned.blocks[0].upper) == (1.5, 1.5)


@pytest.mark.parametrize(
    ("changes", "where", "limit"),
    [
        ({"clusters": [["smoker"]]}, "clusters[0]", "two members"),
        ({"clusters": [["smoker", "incom"]]}, "clusters[0]", "not an attribute"),
        ({"clusters": [["smoker", "income"], ["age", "income"]]}, "clusters", "one cluster at most"),
        ({"clusters": [["age", "age"]]}, "clusters", "one cluster at most"),
        ({"clusters": [["income", "age"]], "max_cells": 19}, "clusters[0]", "20 joint categories"),
        ({"clusters": 5}, "clusters", "lists of attributes"),
        ({"clusters": ["ab"]}, "clusters", "lists of attributes"),
        ({"clusters": [[]]}, "clusters", "lists of attributes"),
        ({"clusters": None}, "clusters", "lists of attributes"),
        ({"clusters": {("smoker", "income"): 1}}, "clusters", "lists of attributes"),
        ({"clusters": [{"smoker": 1, "income": 2}]}, "clusters", "lists of attributes"),
        ({"clusters": [{"smoker", "income"}]}, "clusters", "lists of attributes"),
        ({"clusters": np.array(["smoker", "income"])}, "clusters", "lists of attributes"),
        ({"clusters": "auto", "max_cells": 3}, "max_cells", "at least 4"),
        ({"clusters": "auto", "max_cells": 10.5}, "max_cells", "an integer"),
    ],
)
def test_what_is_no_cluster_is_refused_with_the_place_and_the_limit(
    changes: dict[str, Any], where: str, limit: str
) -> None:
    with pytest.raises(bo.ProblemError) as failure:
        problem(**changes)
    [fault] = failure.value.faults
    assert fault.where == where
    assert limit in fault.limit


def test_an_array_of_names_is_a_list_of_names() -> None:
    names = np.array([["smoker", "income"]])
    assert problem(clusters=names) == problem(clusters=[["smoker", "income"]])
    assert all(type(name) is str for [*members] in problem(clusters=names).clusters for name in members)


def test_a_copy_with_other_clusters_refuses_what_the_field_refuses() -> None:
    for wrong in (None, 5, "ab", [None], [{"smoker", "income"}], {}, set()):
        with pytest.raises(bo.ProblemError, match="clusters: "):
            problem(clusters="auto", max_cells=30).with_clusters(wrong)  # type: ignore[arg-type]
    limited = problem(clusters="auto", max_cells=30)
    assert limited.with_clusters(iter([iter(["smoker", "income"])])).max_cells == 30
    assert limited.with_clusters(iter([])).max_cells is None


def test_too_many_joint_categories_are_told_with_every_way_out_and_the_cluster_as_a_file_has_it() -> None:
    with pytest.raises(bo.ProblemError) as failure:
        problem(clusters=[["income", "age"]], max_cells=19)
    assert "clusters[0]: is ['income', 'age'], has 20 joint categories" in str(failure.value)
    assert "Take out a member, use fewer categories, or raise max_cells." in str(failure.value)
    wide = [bo.Attribute(name, categories=2000) for name in "ab"]
    with pytest.raises(bo.ProblemError) as failure:
        bo.Problem(
            attributes=wide, moments=[bo.CrossMoment("a", "b")], total_epsilon=1, clusters=[["a", "b"]]
        )
    assert "max_cells" not in str(failure.value)


def test_two_clusters_of_one_name_are_one_fault() -> None:
    names = ("a", "b + c", "a + b", "c")
    with pytest.raises(bo.ProblemError) as failure:
        bo.Problem(
            attributes=[bo.Attribute(name, categories=2) for name in names],
            moments=[bo.CrossMoment("a", "c")],
            total_epsilon=1.0,
            clusters=[["a", "b + c"], ["a + b", "c"]],
        )
    [fault] = failure.value.faults
    assert fault.value == "a + b + c"


def test_members_whose_bounds_exclude_each_other_are_named() -> None:
    with pytest.raises(bo.ProblemError, match=r"smoker needs at least 3\.0, income at most 2\.5"):
        problem(
            attributes=[
                bo.Attribute("smoker", categories=2, epsilon_min=3.0),
                bo.Attribute("income", categories=5, epsilon_max=2.5),
            ],
            moments=[bo.CrossMoment("smoker", "income")],
            groups=[],
            clusters=[["smoker", "income"]],
        )


@pytest.mark.parametrize("is_public", [False, True])
def test_a_cluster_with_the_name_of_a_column_is_refused(is_public: bool) -> None:
    """What is told, and computed, by the name of a cluster would be that of the column."""
    names, public = ("a", "b"), [{"name": "a + b", "why": "the same for everybody"}]
    named = [bo.Attribute(name, categories=2) for name in (names if is_public else (*names, "a + b"))]
    with pytest.raises(bo.ProblemError, match="name of a cluster, and of something else"):
        bo.Problem(
            attributes=named,
            moments=[bo.CrossMoment("a", "b")],
            total_epsilon=1.0,
            clusters=[["a", "b"]],
            public=public if is_public else [],
        )


def test_minima_that_overfill_a_budget_are_counted_once_a_cluster() -> None:
    attributes = [bo.Attribute(name, categories=2, epsilon_min=0.6) for name in "abc"]
    fields: dict[str, Any] = {
        "attributes": attributes,
        "moments": [bo.CrossMoment("a", "b")],
        "total_epsilon": 1.2,
    }
    with pytest.raises(bo.ProblemError, match=r"need 1\.8"):
        bo.Problem(**fields)
    assert bo.Problem(**fields, clusters=[["a", "b"]]).arrays.lower.tolist() == [0.6, 0.6]


def test_clusters_to_be_chosen_are_no_arrays_yet_and_the_way_out_is_told() -> None:
    open_problem = problem(clusters="auto", max_cells=20)
    with pytest.raises(bo.ProblemError, match=r"budget-opt design PROBLEM -o designed\.json .*bo\.design"):
        _ = open_problem.arrays
    assert open_problem.with_clusters([]).max_cells is None
    assert open_problem.with_clusters([["smoker", "income"]]).max_cells == 20


def test_a_limit_of_cells_is_idle_without_clusters() -> None:
    idle = problem(max_cells=4)
    assert idle.arrays.cardinality.tolist() == problem().arrays.cardinality.tolist()
    assert idle.with_clusters("auto").max_cells == 4


def test_clusters_are_read_and_written_and_change_the_hash(tmp_path: Path) -> None:
    clustered = problem(clusters=[["smoker", "income"]])
    clustered.write(tmp_path / "p.json")
    assert bo.Problem.read(tmp_path / "p.json") == clustered
    assert json.loads((tmp_path / "p.json").read_text())["clusters"] == [["smoker", "income"]]
    other_order = problem(clusters=[["income", "smoker"]])
    assert len({problem().sha256, clustered.sha256, other_order.sha256}) == 3


shares = st.lists(st.integers(1, 9), min_size=2, max_size=4)


@settings(max_examples=40)
@given(st.lists(shares, min_size=1, max_size=3), st.integers(0, 1000))
def test_the_spread_of_several_members_is_that_of_their_product(weights: list[list[int]], seed: int) -> None:
    """Enumeration in fractions of E f^2 / Var f and s / Var f, F = prod (f_t - mu_t), independent members."""
    rng = np.random.default_rng(seed)
    marginals = [[Fraction(w, sum(own)) for w in own] for own in weights]
    scores = [[Fraction(int(x)) for x in rng.choice(50, len(own), replace=False)] for own in weights]
    members = tuple(
        bo.Attribute(
            f"x{i}", categories=len(own), scores=[float(x) for x in f], marginal=[float(p) for p in own]
        )
        for i, (own, f) in enumerate(zip(marginals, scores, strict=True))
    )
    means = [
        sum(p * x for p, x in zip(own, f, strict=True)) for own, f in zip(marginals, scores, strict=True)
    ]
    cells = list(itertools.product(*(range(len(own)) for own in marginals)))
    truth = [math.prod(own[c] for own, c in zip(marginals, cell, strict=True)) for cell in cells]
    product = [math.prod(f[c] - m for f, c, m in zip(scores, cell, means, strict=True)) for cell in cells]
    centre = sum(product) / len(cells)
    mean = sum(p * x for p, x in zip(truth, product, strict=True))
    variance = sum(p * (x - mean) ** 2 for p, x in zip(truth, product, strict=True))
    a = sum(p * (x - centre) ** 2 for p, x in zip(truth, product, strict=True)) / variance
    b = sum((x - centre) ** 2 for x in product) / len(cells) / variance
    found = Block(members).spread_of([one.name for one in members])
    assert found == pytest.approx((float(a), float(b)), rel=1e-9)


def test_the_spread_columns_are_one_for_each_set_of_members_that_differs() -> None:
    marginal = [0.7, 0.3]
    clustered = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=2, marginal=marginal),
            *(bo.Attribute(n, categories=2) for n in "bc"),
        ],
        moments=[bo.CrossMoment("a", "c"), bo.CrossMoment("b", "c"), bo.CrossMoment("a", "b")],
        total_epsilon=2.0,
        objective="min_variance",
        clusters=[["a", "b"]],
    )
    arrays = clustered.arrays
    # a alone; b alone; both, where b has a - 1 = 0 and the pair has a = 1 and b = b_a + a_a - 1
    a, b = clustered.attribute("a").spread
    assert arrays.spread_block.tolist() == [0, 0, 0, 1]
    assert arrays.spread_a.tolist() == pytest.approx([a, 1.0, 1.0, 1.0])
    assert arrays.spread_b.tolist() == pytest.approx([b, 1.0, b + a - 1.0, 1.0])
    assert arrays.spread_incidence.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]]
