"""Clusters in an allocation: one epsilon and sampler for all members, and a file that nobody misreads."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.mechanisms.exact import exact


def clustered(**changes: Any) -> bo.Problem:
    fields: dict[str, Any] = {
        "attributes": [
            bo.Attribute("smoker", categories=2),
            bo.Attribute("income", categories=5),
            bo.Attribute("age", categories=4),
        ],
        "moments": [
            bo.CrossMoment("smoker", "income", weight=3.0),
            bo.CrossMoment("income", "age"),
            bo.CrossMoment("smoker", "income", "age", floor=0.05),
        ],
        "groups": [{"name": "g", "attributes": ["smoker", "income"], "epsilon_max": 2.5}],
        "total_epsilon": 3.0,
        "clusters": [["income", "smoker"]],
    }
    return bo.Problem(**(fields | changes))


def matrix(sampler: Any, r: int) -> np.ndarray[Any, Any]:
    """P of a sampler in fractions: q words for each other category, the rest for the truth."""
    other = Fraction(sampler.q, 2**sampler.bits)
    return np.array([[1 - (r - 1) * other if x == y else other for y in range(r)] for x in range(r)])


def test_every_member_has_the_epsilon_loss_and_retention_of_the_cluster_and_it_is_counted_once() -> None:
    allocation = bo.allocation_from(clustered(), {"income + smoker": 2.0, "age": 1.0})
    smoker, income = allocation["smoker"], allocation["income"]
    assert smoker.epsilon == income.epsilon == 2.0
    assert smoker.loss == income.loss == allocation.block_of("smoker").loss
    assert smoker.cluster == ("income", "smoker")
    assert allocation["age"].cluster == ()
    assert allocation.spent_epsilon == 3.0
    parts = [exact(block.loss) for block in allocation.blocks]
    assert len(parts) == 2
    assert exact(allocation.loss) >= sum(parts)
    assert allocation.epsilons.tolist() == [2.0, 1.0]


def test_a_members_column_has_exactly_the_law_of_its_own_sampler() -> None:
    """The joint matrix summed over the other member, in fractions."""
    block = bo.allocation_from(clustered(), {"income + smoker": 2.0, "age": 1.0}).block_of("smoker")
    joint = matrix(block.sampler, 10)
    cells = list(product(range(5), range(2)))
    for axis, (name, r) in enumerate((("income", 5), ("smoker", 2))):
        own = block.column_sampler(name)
        assert own is not None
        column = matrix(own, r)
        for i, truth in enumerate(cells):
            for y in range(r):
                summed = sum(joint[i, j] for j, report in enumerate(cells) if report[axis] == y)
                assert summed == column[truth[axis], y]
        assert own.retention == block.exact_retention


def test_a_member_has_no_sampler_to_be_drawn_from_on_its_own() -> None:
    allocation = bo.uniform(clustered())
    with pytest.raises(bo.InputError, match="randomized together"):
        _ = allocation["smoker"].sampler
    assert allocation.to_dict()["attributes"][0]["sampler"] is None


def test_retentions_are_products_over_the_touched_blocks_and_say_where_they_are_no_whole_story() -> None:
    allocation = bo.allocation_from(clustered(), {"income + smoker": 2.0, "age": 1.0})
    together, alone = (block.exact_retention for block in allocation.blocks)
    assert [moment.exact_retention for moment in allocation.moments] == [
        together,
        together * alone,
        together * alone,
    ]
    assert [moment.touches_twice for moment in allocation.moments] == [True, False, True]
    assert allocation.retention("smoker", "income") <= together
    assert "with two members of one cluster: smoker x income, smoker x income x age" in str(allocation)


def test_the_file_carries_the_members_and_reads_back_as_it_was(tmp_path: Path) -> None:
    allocation = bo.solve(clustered())
    allocation.write(tmp_path / "a.json")
    assert bo.Allocation.read(tmp_path / "a.json").to_dict() == allocation.to_dict()
    [cluster] = json.loads((tmp_path / "a.json").read_text())["clusters"]
    assert (cluster["members"], cluster["cardinality"]) == (["income", "smoker"], 10)
    assert cluster["sampler"]["q"].isdigit()


def forge(document: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    copy = json.loads(json.dumps(document))
    change(copy)
    return copy


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a member with a sampler of its own": lambda d: d["attributes"][0].update(
        sampler={"bits": 32, "q": "511828410"}
    ),
    "less loss": lambda d: d["clusters"][0].update(loss=0.5),
    "a larger retention": lambda d: d["clusters"][0].update(retention=0.9),
    "another q": lambda d: d["clusters"][0]["sampler"].update(q="7"),
    "other members": lambda d: d["clusters"][0].update(members=["smoker", "income"]),
    "a member twice": lambda d: d["clusters"].append(d["clusters"][0]),
    "no cluster": lambda d: d.update(clusters=[]),
    "an unknown member": lambda d: d["clusters"][0].update(members=["income", "nobody"]),
    "one member": lambda d: d["clusters"][0].update(members=["income"]),
    "a member's own epsilon": lambda d: d["attributes"][0].update(epsilon=1.0),
    "another name": lambda d: d["clusters"][0].update(name="both"),
    "an unmarked moment": lambda d: d["moments"][0].pop("retention_of"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_file_whose_clusters_disagree_with_the_rest_is_refused(forgery: str, tmp_path: Path) -> None:
    document = bo.allocation_from(clustered(), {"income + smoker": 2.0, "age": 1.0}).to_dict()
    path = tmp_path / "a.json"
    path.write_text(json.dumps(forge(document, FORGERIES[forgery])))
    with pytest.raises(bo.AllocationError):
        bo.Allocation.read(path)


def test_a_split_by_hand_takes_the_cluster_or_its_members_and_no_two_epsilons_for_one() -> None:
    problem = clustered()
    whole = bo.allocation_from(problem, {"income + smoker": 2.0, "age": 1.0})
    by_members = bo.allocation_from(problem, {"income": 2.0, "smoker": 2.0, "age": 1.0})
    assert whole.epsilons.tolist() == by_members.epsilons.tolist()
    with pytest.raises(bo.InputError, match="one epsilon for all its members"):
        bo.allocation_from(problem, {"income": 2.0, "smoker": 1.0, "age": 1.0})
    with pytest.raises(bo.InputError, match=r"income \+ smoker: .*needs an epsilon"):
        bo.allocation_from(problem, {"age": 1.0})


def test_a_cluster_at_epsilon_0_is_not_released() -> None:
    allocation = bo.allocation_from(clustered(), {"income + smoker": 0.0, "age": 1.0})
    assert allocation.released == ("age",)
    assert allocation["smoker"].retention == 0
    assert allocation["smoker"].column_sampler is None
