"""Every estimate with an attribute in merged categories says that it is of these, and no other one does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo

GROUPING = {"A": ["A1", "A2"], "B": ["B1", "B2"]}
NOTE = "of the merged categories of d (2 of 4 declared)"
E = bo.estimate


def problem(**fields: Any) -> bo.Problem:
    declared = bo.Attribute(
        "d", categories=["A1", "A2", "B1", "B2"], scores=[0, 1, 2, 3], epsilon=4.0, **fields
    )
    others = [bo.Attribute("s", categories=2, epsilon=4.0), bo.Attribute("t", categories=3, epsilon=4.0)]
    return bo.Problem(
        attributes=[declared, *others],
        moments=[bo.CrossMoment("d", "s"), bo.CrossMoment("s", "t")],
        total_epsilon=12.0,
    )


@pytest.fixture(scope="module")
def allocation() -> bo.Allocation:
    return bo.uniform(problem(grouping=GROUPING))


@pytest.fixture(scope="module")
def originals() -> pd.DataFrame:
    """What depends on d differs within its merged categories too."""
    rng = np.random.default_rng(8)
    d = rng.integers(0, 4, 6000)
    s = (rng.random(6000) < np.array([0.1, 0.4, 0.6, 0.9])[d]).astype(int)
    names = np.array(["A1", "A2", "B1", "B2"])
    return pd.DataFrame({"d": names[d], "s": s, "t": s + rng.integers(0, 2, 6000)})


@pytest.fixture(scope="module")
def released(allocation: bo.Allocation, originals: pd.DataFrame) -> Any:
    return bo.randomize(originals, allocation)


def _regression(released: Any, allocation: bo.Allocation) -> Any:
    return E.regress(released, allocation, "s ~ d")


ASKED: dict[str, Callable[[Any, bo.Allocation], Any]] = {
    "moment": lambda r, a: E.moment(r, a, "d", "s"),
    "mean": lambda r, a: E.moment(r, a, "d"),
    "moments": lambda r, a: E.moments(r, a, [("s", "t"), ("d", "s")]),
    "covariance": E.covariance,
    "covariance of a pair": lambda r, a: E.covariance(r, a)["d", "s"],
    "correlation": lambda r, a: E.correlation(r, a)["t", "d"],
    "group means": lambda r, a: E.group_means(r, a, "s", by="d"),
    "group mean": lambda r, a: E.group_means(r, a, "s", by="d")["A"],
    "difference": lambda r, a: E.group_means(r, a, "d", by="s").difference(0, 1),
    "table": lambda r, a: E.table(r, a, "d", "s"),
    "share": lambda r, a: E.table(r, a, "d", "s", method="unbiased").share({"d": "A"}),
    "conditional share": lambda r, a: E.table(r, a, "d", "s", method="unbiased").share(
        {"s": 1}, given={"d": "A"}
    ),
    "marginal": lambda r, a: E.marginals(r, a, "d").tables[0],
    "entropy": lambda r, a: E.entropy(r, a, "d", "s"),
    "cramers v": lambda r, a: E.cramers_v(r, a, "d", "s"),
    "associations": lambda r, a: E.associations(r, a, "d", "s", "t"),
    "test": lambda r, a: E.independence_test(r, a, "d", "s"),
    "regression": _regression,
    "logistic": lambda r, a: E.regress(r, a, "s ~ d", family="logistic"),
    "of counts": lambda r, a: E.moment(E.count(r, a, "s", "d"), a, "s", "d"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_an_estimate_of_merged_categories_says_so_once(
    released: Any, allocation: bo.Allocation, asked: str
) -> None:
    found = ASKED[asked](released, allocation)
    assert [note.startswith(NOTE) for note in found.notes].count(True) == 1
    assert "Of the merged categories of d" in str(found)


def test_an_estimate_without_them_does_not(released: Any, allocation: bo.Allocation) -> None:
    """Not even beside others in one call, nor from counts that have them."""
    several = E.moments(released, allocation, [("s", "t"), ("d", "s")])
    pair = E.covariance(released, allocation)["s", "t"]
    counted = E.moment(E.count(released, allocation, "d", "s", "t"), allocation, "s", "t")
    for found in (several[0], pair, counted):
        assert not any("merged" in note for note in found.notes)
    assert "merged" not in several[0].to_dict()
    assert "of the merged categories" not in str(counted)


def test_nor_does_one_of_a_grouping_that_merges_nothing() -> None:
    names = {"w": ["A1"], "x": ["A2"], "y": ["B1"], "z": ["B2"]}
    renamed = bo.uniform(problem(grouping=names))
    table = pd.DataFrame({"d": ["A1", "B2"] * 500, "s": [0, 1] * 500, "t": [0, 2] * 500})
    found = E.moment(bo.randomize(table, renamed), renamed, "d", "s")
    assert found.merged == ()
    assert not any("merged" in note for note in found.notes)


def test_the_retention_of_an_estimate_is_called_that_of_the_merged_categories(
    released: Any, allocation: bo.Allocation
) -> None:
    """An allocation's counts what merging leaves, and is another number."""
    found = E.moment(released, allocation, "d", "s")
    moment = allocation.moments[0]
    assert found.retention == pytest.approx(float(moment.kept))
    assert moment.retention == pytest.approx(0.8 * found.retention)
    assert f"retention {found.retention:.4g} of the merged categories" in str(found)
    assert found.to_dict()["merged"] == ["d"]
    heading = " ".join(str(E.moments(released, allocation, [("d", "s")])).split())
    assert "released categories" in heading
    shown = str(allocation)
    assert "(with merging)" in shown
    assert "released categories" in shown


def test_a_plan_says_what_its_retentions_and_its_errors_are_of(allocation: bo.Allocation) -> None:
    told = " ".join(str(bo.plan(allocation, 1000)).split())
    assert "errors and guesses of the merged categories of d, while retentions count" in told
    assert "(with" in told
    assert "merging)" in told
    plain = str(bo.plan(bo.uniform(problem()), 1000))
    assert "merg" not in plain
    assert "merg" not in str(bo.uniform(problem()))
