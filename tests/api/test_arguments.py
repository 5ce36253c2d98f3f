"""Arguments in the wrong order, or a path in place of an object, are told as such."""

import pandas as pd
import pytest

import budget_opt as bo


@pytest.fixture
def problem():
    return bo.Problem(
        attributes=[bo.Attribute("a", categories=2)], moments=[bo.CrossMoment("a")], total_epsilon=1.0
    )


@pytest.fixture
def table():
    return pd.DataFrame({"a": [0, 1] * 10})


def test_the_argument_that_is_of_another_kind_is_named(problem, table):
    allocation = bo.uniform(problem)
    calls = {
        "problem": [lambda: bo.solve("p.json"), lambda: bo.verify(allocation, table)],
        "allocation": [
            lambda: bo.randomize(allocation, table),
            lambda: bo.randomize(table, "a.json"),
            lambda: bo.verify(problem, allocation),
            lambda: bo.verify_release(table, table, table),
            lambda: bo.estimate.moment(allocation, table, "a"),
            lambda: bo.estimate.moments(allocation, table, [("a",)]),
        ],
        "table": [lambda: bo.randomize("a.csv", allocation)],
        "attributes": [lambda: bo.estimate.moment(table, allocation, ["a"])],
        "gap": [lambda: bo.solve(problem, "max_min")],
    }
    for name, wrong in calls.items():
        for call in wrong:
            with pytest.raises(bo.InputError, match=f"^{name}: "):
                call()
