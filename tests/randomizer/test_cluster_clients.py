"""One record at a time with a cluster: R1, R10, R36, and a file that both readers understand alike."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.allocation.document import allocation_of
from budget_opt.errors import AllocationError, DataError, InputError, VerificationError
from budget_opt.randomizer.local import randomizer as local_module
from budget_opt.randomizer.local.document import terms_of_document
from budget_opt.randomizer.local.randomizer import LocalRandomizer
from budget_opt.randomizer.local.sources import terms_from
from tests.randomizer.clustered import CLUSTER, SHAPE, allocation, problem
from tests.randomizer.test_local_light import ALONE

Run = Callable[..., subprocess.CompletedProcess[str]]
ALLOCATION = allocation()
RECORD = {"smoker": "yes", "region": 3, "age": 41, "income": 4, "wave": "w1"}


def fed(monkeypatch: pytest.MonkeyPatch, words: Callable[[int], bytes]) -> None:
    monkeypatch.setattr(local_module, "fresh_bytes", words)


def test_a_client_randomizes_a_cluster_with_one_word_and_its_joint_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local = LocalRandomizer(ALLOCATION)
    assert local.columns == ("smoker", "region", "age", "income", "wave")
    blocks = ALLOCATION.blocks
    assert [block.name for block in blocks] == ["income + smoker + age", "region"]
    rng, sizes = np.random.default_rng(4), [block.sampler.bits // 8 for block in blocks]
    truth = np.ravel_multi_index((4, 1, 1), SHAPE)
    for _ in range(300):
        drawn = [rng.bytes(size) for size in sizes]
        fed(monkeypatch, lambda size, drawn=drawn: b"".join(drawn))
        report = local.report(RECORD)
        code = blocks[0].sampler.report(int(truth), int.from_bytes(drawn[0], "little"))
        expected = np.unravel_index(code, SHAPE)
        for name, place in zip(CLUSTER, expected, strict=True):
            assert report[name] == ALLOCATION[name].domain.labels[place]
        region = blocks[1].sampler.report(1, int.from_bytes(drawn[1], "little"))
        assert report["region"] == (7, 3, 5, None)[region]
        assert tuple(report) == local.columns


def test_a_client_is_told_of_every_member_that_is_absent_or_does_not_fit() -> None:
    local = LocalRandomizer(ALLOCATION)
    with pytest.raises(DataError, match="'income': absent"):
        local.report({name: value for name, value in RECORD.items() if name != "income"})
    with pytest.raises(DataError) as caught:
        local.report(RECORD | {"smoker": "CANARY", "income": 9})
    assert "'smoker'" in str(caught.value)
    assert "'income'" in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_r36_a_client_leaves_a_cluster_without_a_budget_out_unless_asked_for() -> None:
    empty = allocation(0.0)
    assert LocalRandomizer(empty).columns == ("region", "wave")
    whole = LocalRandomizer(empty, include_empty=True)
    assert whole.columns == LocalRandomizer(ALLOCATION).columns
    reports = [whole.report(RECORD) for _ in range(400)]
    assert {report["income"] for report in reports} == set(range(5))


REPORTS = """
path, record = sys.argv[1], json.loads(sys.argv[2])
local = bo.LocalRandomizer(path)
print(json.dumps([local.loss, *(local.report(record) for _ in range(100))]))
"""


def test_a_client_with_numpy_and_cryptography_alone_reads_clusters_backgrounds_and_groupings(
    run_module: Run, tmp_path: Path
) -> None:
    made = allocation(attributes=UNEVEN)
    made.write(tmp_path / "a.json")
    done = run_module("-c", ALONE + REPORTS, str(tmp_path / "a.json"), json.dumps(RECORD))
    assert done.returncode == 0, done.stderr
    loss, *reports = json.loads(done.stdout)
    assert loss == made.loss
    assert {report["smoker"] for report in reports} == {"no", "yes"}
    assert {report["region"] for report in reports} <= {"7 or 3", "5", None}


UNEVEN = [
    bo.Attribute("smoker", categories=["no", "yes"], marginal=[0.75, 0.25], background="marginal"),
    bo.Attribute(
        "region",
        categories=[7, 3, 5],
        missing="category",
        grouping=[[7, 3], [5]],
        marginal=[0.2, 0.3, 0.4, 0.1],
        background={"mixture": 0.5},
    ),
    bo.Attribute("age", bins=[18, 30, 65, None], scores=[24, 45, 75], missing="category", missing_score=40),
    bo.Attribute("income", categories=5),
]


@pytest.mark.parametrize("changes", [{}, {"attributes": UNEVEN}])
def test_both_readers_understand_the_same_of_a_cluster(changes: dict[str, Any]) -> None:
    for epsilon in (4.0, 0.0):
        document = json.loads(json.dumps(allocation(epsilon, **changes).to_dict()))
        assert terms_of_document(document) == terms_from(allocation_of(document))


CLUSTER_AT, MEMBER_AT = ("clusters", 0), ("attributes", 0)
RESTS_ON: list[tuple[tuple[str | int, ...], object]] = [
    *(
        ((*CLUSTER_AT, "members"), value)
        for value in ([], ["smoker"], ["smoker", "smoker"], ["smoker", "wave"])
    ),
    ((*CLUSTER_AT, "members"), ["smoker", "income", "age"]),
    ((*CLUSTER_AT, "name"), "smoker + income + age"),
    ((*CLUSTER_AT, "cardinality"), 39),
    ((*CLUSTER_AT, "background"), "product"),
    *(((*CLUSTER_AT, "epsilon"), value) for value in (3.9, 4.1, "4", None, float("nan"))),
    ((*CLUSTER_AT, "loss"), 3.9),
    *(((*CLUSTER_AT, "sampler"), value) for value in (None, {}, {"bits": 64, "q": "1"})),
    ((*MEMBER_AT, "sampler"), {"bits": 32, "q": "5"}),
    ((*MEMBER_AT, "cluster"), "another"),
    ((*MEMBER_AT, "epsilon"), 1.0),
    ((*MEMBER_AT, "loss"), 1.0),
    (("attributes", 1, "cluster"), "income + smoker + age"),
    (("clusters",), []),
    (("clusters",), None),
    (("spent_epsilon",), 14.0),
]


@pytest.mark.parametrize(("path", "value"), RESTS_ON)
def test_what_a_file_states_of_a_cluster_is_checked_by_both_readers(
    path: tuple[Any, ...], value: object
) -> None:
    document = json.loads(json.dumps(ALLOCATION.to_dict()))
    place = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(AllocationError) as caught:
        terms_of_document(copy.deepcopy(document))
    assert "clusters" in str(caught.value) or str(path[-1]) in str(caught.value)
    with pytest.raises(InputError):
        allocation_of(document)


def test_an_attribute_of_two_clusters_is_refused_by_both_readers() -> None:
    document = json.loads(json.dumps(ALLOCATION.to_dict()))
    document["clusters"].append(document["clusters"][0])
    with pytest.raises(AllocationError, match="must be in one cluster"):
        terms_of_document(copy.deepcopy(document))
    with pytest.raises(InputError):
        allocation_of(document)


def test_a_cluster_counts_once_against_the_total_and_a_group_with_several_members() -> None:
    groups = [bo.Group("two", attributes=["smoker", "income"], epsilon_max=4.0)]
    LocalRandomizer(allocation(4.0, groups=groups))
    with pytest.raises(VerificationError, match=r"group two: is 4\.5, must be at most 4\.0"):
        LocalRandomizer(bo.allocation_from(problem(groups=groups), {"income": 4.5, "region": 1.0}))
    with pytest.raises(VerificationError, match=r"of a record: is 6\.1, must be at most 6\.0"):
        LocalRandomizer(bo.allocation_from(problem(), {"income": 4.1, "region": 2.0}))


def test_a_sampler_of_another_number_of_joint_categories_draws_nothing() -> None:
    first, second = ALLOCATION.blocks
    with pytest.raises(VerificationError, match=r"categories of income \+ smoker \+ age"):
        LocalRandomizer(replace(ALLOCATION, blocks=(replace(first, sampler=second.sampler), second)))
