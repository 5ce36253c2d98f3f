"""Python refuses what the manifest beside a file refutes, as the command line does."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.api.releasing.publishing import Place, publish

estimate = bo.estimate
ASKED = {
    "moment": lambda released, other: estimate.moment(released, other, "smoker", "income"),
    "moments": lambda released, other: estimate.moments(released, other, [["smoker"]]),
    "covariance": lambda released, other: estimate.covariance(released, other, "smoker", "income"),
    "correlation": lambda released, other: estimate.correlation(released, other, "smoker", "income"),
    "group_means": lambda released, other: estimate.group_means(released, other, "income", by="smoker"),
    "table": lambda released, other: estimate.table(released, other, "smoker", "income"),
    "marginals": estimate.marginals,
    "entropy": lambda released, other: estimate.entropy(released, other, "smoker"),
    "cramers_v": lambda released, other: estimate.cramers_v(released, other, "smoker", "income"),
    "associations": lambda released, other: estimate.associations(released, other, "smoker", "income"),
    "test": lambda released, other: estimate.independence_test(released, other, "smoker", "income"),
    "regress": lambda released, other: estimate.regress(released, other, "income ~ smoker"),
    "count": lambda released, other: estimate.count(released, other, "smoker"),
}


@pytest.fixture
def released(tmp_path: Path) -> Path:
    problem = bo.Problem(
        attributes=[bo.Attribute("smoker", categories=2), bo.Attribute("income", categories=3, ordered=True)],
        moments=[bo.CrossMoment("smoker", "income")],
        total_epsilon=4.0,
    )
    bo.uniform(problem).write(tmp_path / "allocation.json")
    bo.uniform(problem.with_total(6.0)).write(tmp_path / "other.json")
    pd.DataFrame({"smoker": [0, 1] * 300, "income": [0, 1, 2] * 200}).to_csv(
        tmp_path / "data.csv", index=False
    )
    table = tmp_path / "public" / "released.csv"
    publish(tmp_path / "allocation.json", tmp_path / "data.csv", Place(table))
    return table


@pytest.mark.parametrize("ask", ASKED.values(), ids=list(ASKED))
def test_another_allocation_than_the_manifest_beside_the_file_names_is_refused(ask, released: Path) -> None:
    other = bo.Allocation.read(released.parent.parent / "other.json")
    for path in (released, str(released)):
        with pytest.raises(bo.InputError, match="under another allocation than this one"):
            ask(path, other)


def test_the_allocation_of_the_release_is_taken_from_its_folder_or_its_source(released: Path) -> None:
    for place in (released.parent, released.parent.parent):
        own = bo.Allocation.read(place / "allocation.json")
        assert bo.estimate.count(released, own, "smoker").n == 600
