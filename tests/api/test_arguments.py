"""Arguments in the wrong order, or a path in place of an object, are told as such."""

import json
from fractions import Fraction

import numpy as np
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
        "progress": [
            lambda: bo.solve(problem, progress=3),
            lambda: bo.judge(problem, {"a": 1}, progress="loud"),
            lambda: bo.frontier(problem, total_epsilon=[1, 2], progress=3),
            lambda: bo.design(problem, progress=3),
        ],
    }
    for name, wrong in calls.items():
        for call in wrong:
            with pytest.raises(bo.InputError, match=f"^{name}: "):
                call()


def test_a_table_of_another_kind_is_told_what_to_use_instead(problem, tmp_path):
    allocation = bo.uniform(problem)
    with pytest.raises(bo.DataError, match=r"is a dict, must .* RecordBatch\. For a file use randomize_file"):
        bo.randomize({"a": [0, 1]}, allocation)
    with pytest.raises(
        bo.DataError, match=r"RecordBatch, or the path of a \.csv, \.csv\.gz or \.parquet file"
    ):
        bo.verify_release(allocation, original={"a": [0, 1]}, released={"a": [0, 1]})
    of_spark = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    with pytest.raises(
        bo.DataError, match=r"a DataFrame of pyspark, .* use budget_opt\.engines\.spark\.randomize"
    ):
        bo.randomize(of_spark, allocation)


def test_options_of_a_file_are_refused_where_they_are_written(problem, tmp_path):
    with pytest.raises(bo.InputError, match='row_order: is \'sorted\', must be "shuffle" or "public"'):
        bo.FileOptions(row_order="sorted")
    with pytest.raises(bo.InputError, match="options: is a dict, must be a FileOptions"):
        bo.randomize_file("a.csv", bo.uniform(problem), tmp_path / "b.csv", {"row_order": "public"})
    with pytest.raises(bo.InputError, match="allocation: is a str, must be an Allocation"):
        bo.randomize_file("a.csv", "b.csv", tmp_path / "b.csv")


def calls_with_a_number(problem, allocation, tmp_path):
    """Every public function by the argument that is a number."""
    pair = {"moment": ("a", "b"), "time_limit": 5}
    return {
        "guess": lambda x: bo.plan(allocation, 100, x),
        "wanted_error": lambda x: bo.plan(allocation, 100, wanted_error={("a", "b"): x}),
        "level": lambda x: bo.plan(allocation, 100, level=x),
        "wanted_power": lambda x: bo.plan(allocation, 100, 0.1, wanted_power=x),
        "retention": lambda x: bo.least_total(problem, retention=x),
        "standard_error": lambda x: bo.least_total(problem, standard_error=x, n=10_000),
        "step": lambda x: bo.rounded(allocation, x),
        "total_epsilon": lambda x: bo.frontier(problem, [x], time_limit=5),
        "weight": lambda x: bo.frontier(problem, weight=[x], **pair),
        "floor": lambda x: bo.frontier(problem, floor=[x], **pair),
        "gap": lambda x: bo.frontier(problem, [1], gap=x),
        "time_limit": lambda x: bo.solve(problem, time_limit=x),
        "report": lambda x: bo.report(allocation, tmp_path / "r.html", n=100, guess=x),
    }


@pytest.fixture
def pairs():
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=2) for name in "abc"],
        moments=bo.all_pairs(["a", "b", "c"]),
        total_epsilon=3.0,
        objective="geometric_mean",
    )


@pytest.mark.parametrize("number", [np.float64(0.25), np.float32(0.25), Fraction(1, 4)], ids=repr)
def test_numbers_of_other_kinds_are_taken_as_doubles(pairs, tmp_path, number):
    for call in calls_with_a_number(pairs, bo.solve(pairs), tmp_path).values():
        found = call(number)
        if hasattr(found, "to_dict"):
            stated = json.dumps(found.to_dict(), allow_nan=False)
            assert "Fraction" not in stated
        assert str(found)


def test_numbers_beyond_every_double_are_refused(pairs, tmp_path):
    for name, call in calls_with_a_number(pairs, bo.solve(pairs), tmp_path).items():
        for wrong in (10**400, -(10**400)):
            with pytest.raises(bo.InputError, match=r"beyond 1\.8e308"):
                pytest.fail(f"{name} takes {call(wrong)}")


def test_what_is_no_list_and_no_path_is_told(pairs, tmp_path):
    allocation, scalar = bo.solve(pairs), np.array(0.5)
    calls = [
        lambda: bo.frontier(pairs, scalar),
        lambda: bo.frontier(pairs, n=scalar),
        lambda: bo.frontier(pairs, moment=5, floor=[0.1]),
        lambda: bo.all_pairs(scalar),
        lambda: bo.pairs_with("a", scalar),
        lambda: pairs.with_fields(moment_rules=scalar),
        lambda: bo.compare({"x": allocation}, pairs, reference=["x"]),
        lambda: bo.report(allocation, 5),
        lambda: bo.report(allocation, tmp_path / "r.html", certificate=5),
        lambda: bo.report(allocation, tmp_path / "r.html", guess={("a", "b"): 0.1}),
        lambda: bo.verify(allocation, certificate=5),
        lambda: bo.solve(pairs, certificate=5),
        lambda: bo.Problem.read(5),
        lambda: bo.Allocation.read(None),
        lambda: allocation.write(5),
        lambda: bo.plan(allocation, 100).write(5),
        lambda: bo.read_codebook(np.int64(3)),
        lambda: bo.read_codebook(scalar),
    ]
    for call in calls:
        with pytest.raises(bo.InputError):
            call()
