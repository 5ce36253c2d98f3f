"""`bo.estimate.table` and `marginals` on releases of real tables, against their exact values.

Differences are in units of the stated error: 6 standard errors, a false alarm of 2e-9 a number.
"""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.joint.drawing import drawn_reports
from budget_opt.estimators.joint.estimating import TableOptions, estimate_table
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.releases.released import open_released
from budget_opt.mechanisms.randomized_response import retention

SIGMAS = 6.0
EPSILON = 2.0


def read(folder: Path, name: str) -> tuple[pd.DataFrame, list[bo.Attribute], dict[str, Any]]:
    """The categorical columns that the truth file covers, their declared domains, and the truth."""
    schema = json.loads((folder / f"{name}.schema.json").read_text(encoding="utf-8"))
    truth = json.loads((folder / f"{name}.truth.json").read_text(encoding="utf-8"))
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [
        one for one in schema["columns"] if one["name"] in schema["truth_attributes"] and "categories" in one
    ]
    attributes = [bo.Attribute(one["name"], categories=one["categories"]) for one in columns]
    names = [one.name for one in attributes]
    return pd.DataFrame([[row[name] for name in names] for row in rows], columns=names), attributes, truth


def release(table: pd.DataFrame, attributes: list[bo.Attribute]) -> tuple[Any, bo.Allocation]:
    names = [one.name for one in attributes]
    problem = bo.Problem(
        attributes=attributes, moments=bo.all_pairs(names), total_epsilon=EPSILON * len(names)
    )
    allocation = bo.allocation_from(problem, dict.fromkeys(names, EPSILON))
    return bo.randomize(table, allocation), allocation


@pytest.mark.parametrize("name", ["adult", "german_credit", "nursery"])
def test_estimates_from_real_releases_are_within_their_errors(shared_data: Path, name: str) -> None:
    """Every category of every attribute, those that never occur too, and a table of two attributes."""
    table, attributes, truth = read(shared_data, name)
    released, allocation = release(table, attributes)
    found = bo.estimate.marginals(released, allocation, target="data")
    assert found.attributes == tuple(one.name for one in attributes)
    for row in found.rows():
        share = truth["marginals"][row["attribute"]].get(row["category"], 0.0)
        assert abs(row["share"] - share) <= SIGMAS * row["standard_error"], (
            row["attribute"],
            row["category"],
        )
    small = sorted(attributes, key=lambda one: len(one.categories))[:2]
    pair = bo.estimate.table(
        released, allocation, *(one.name for one in small), method="unbiased", target="data"
    )
    codes = [table[one.name].map({c: i for i, c in enumerate(one.categories)}) for one in small]
    exact = np.zeros(pair.shares.shape)
    np.add.at(exact, tuple(codes), 1 / len(table))
    assert pair.standard_errors is not None
    assert np.all(np.abs(pair.shares - exact) <= SIGMAS * pair.standard_errors)
    assert variation_distance(exact, pair.shares) < 4 * pair.expected_avd


@pytest.mark.slow
def test_the_default_table_of_a_real_release_is_a_distribution_near_the_truth(shared_data: Path) -> None:
    table, attributes, _ = read(shared_data, "adult")
    names = ["relationship", "sex", "income"]
    chosen = [one for one in attributes if one.name in names]
    released, allocation = release(table[names], chosen)
    found = bo.estimate.table(released, allocation, *names)
    labels = [{c: i for i, c in enumerate(one.categories)} for n in names for one in chosen if one.name == n]
    exact = np.zeros(found.shares.shape)
    np.add.at(
        exact, tuple(table[n].map(codes) for n, codes in zip(names, labels, strict=True)), 1 / len(table)
    )
    assert found.method == "default"
    assert found.shares.sum() == pytest.approx(1)
    assert variation_distance(exact, found.shares) < min(0.15, 4 * found.expected_avd)
    again = bo.estimate.table(released, allocation, *names)
    assert np.array_equal(found.shares, again.shares)
    assert found.expected_avd == again.expected_avd


@pytest.fixture(scope="module")
def survey() -> tuple[pd.DataFrame, bo.Allocation]:
    """A release with survey weights, a public column."""
    rng = np.random.default_rng(51)
    table = pd.DataFrame(
        {
            "a": rng.choice(["x", "y"], 3000, p=[0.7, 0.3]),
            "b": rng.choice(["u", "v", "w"], 3000, p=[0.5, 0.3, 0.2]),
            "w": rng.uniform(0.5, 4.0, 3000),
        }
    )
    problem = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=["x", "y"]),
            bo.Attribute("b", categories=["u", "v", "w", "z"]),
        ],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=4.0,
        public=[bo.PublicColumn("w", why="the survey design")],
    )
    allocation = bo.allocation_from(problem, {"a": 2.0, "b": 2.0})
    return bo.randomize(table, allocation), allocation


def test_survey_weights_are_taken_by_tables_and_marginals(survey: tuple[pd.DataFrame, bo.Allocation]) -> None:
    released, allocation = survey
    found = bo.estimate.table(released, allocation, "a", "b", method="unbiased", weight="w")
    sums = released.groupby(["a", "b"])["w"].sum() / released["w"].sum()
    for row in found.rows():
        assert row["raw"] == pytest.approx(sums.get((row["a"], row["b"]), 0.0))
    plain = bo.estimate.table(released, allocation, "a", "b", method="unbiased")
    assert found.effective_n is not None
    assert plain.effective_n is not None
    assert found.effective_n < plain.effective_n
    weighted = bo.estimate.marginals(released, allocation, "a", weight="w")
    assert weighted["a"].raw.sum() == pytest.approx(1)
    assert weighted["a"].raw[0] == pytest.approx(
        released.loc[released["a"] == "x", "w"].sum() / released["w"].sum()
    )


def test_counts_made_elsewhere_give_the_same_table(survey: tuple[pd.DataFrame, bo.Allocation]) -> None:
    released, allocation = survey
    rows = pd.crosstab(released["a"], released["b"]).reindex(
        index=["x", "y"], columns=["u", "v", "w", "z"], fill_value=0
    )
    from_counts = bo.estimate.table(bo.Counts(("a", "b"), rows.to_numpy()), allocation, "b", "a")
    from_rows = bo.estimate.table(released, allocation, "b", "a")
    assert np.array_equal(from_counts.shares, from_rows.shares)


def test_tables_are_asked_for_by_names_in_the_right_order(survey: tuple[pd.DataFrame, bo.Allocation]) -> None:
    released, allocation = survey
    with pytest.raises(bo.InputError, match="none is named"):
        bo.estimate.table(released, allocation)
    with pytest.raises(bo.InputError, match="allocation"):
        bo.estimate.table(allocation, released, "a")
    with pytest.raises(bo.InputError, match="'c'"):
        bo.estimate.table(released, allocation, "a", "c")
    with pytest.raises(bo.InputError, match="must be names"):
        bo.estimate.table(released, allocation, ["a", "b"])
    with pytest.raises(bo.InputError, match="Did you mean 'unbiased'"):
        bo.estimate.table(released, allocation, "a", method="unbiase")


def test_a_public_column_crosses_with_a_randomized_one(survey: tuple[pd.DataFrame, bo.Allocation]) -> None:
    """A public column has retention 1 and costs nothing."""
    released, allocation = survey
    coarse = released.assign(w=np.where(released["w"] > 2, 2, 1))
    found = estimate_table(
        open_released(coarse, allocation, ("w", "a")), ("w", "a"), TableOptions("unbiased")
    )
    assert found.epsilon == 2.0
    assert found.shares.sum(axis=1) == pytest.approx(found.raw.sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize(("w", "epsilon"), [(2, 1.0), (3, 2.0)])
def test_methods_expect_the_error_that_they_have_on_adult(shared_data: Path, w: int, epsilon: float) -> None:
    """The mean over 5 sets of attributes; each method within the factor that is stated for it."""
    table, attributes, _ = read(shared_data, "adult")
    attributes = [one for one in attributes if one.name != "native-country"]
    rng = np.random.default_rng(52)
    factors = {
        "unbiased": (0.85, 1.2),
        "simplex": (0.8, 1.3),
        "truncated": (0.8, 1.3),
        "independent": (0.7, 1.3),
    }
    true, expected = (dict.fromkeys(factors, 0.0) for _ in range(2))
    for _ in range(5):
        chosen = [attributes[place] for place in rng.choice(len(attributes), w, replace=False)]
        domains = [list(one.categories) for one in chosen]
        shape = tuple(map(len, domains))
        codes = [table[one.name].map(labels.index) for one, labels in zip(chosen, domains, strict=True)]
        originals = np.zeros(shape, dtype=np.int64)
        np.add.at(originals, tuple(codes), 1)
        given = tuple(
            Channel(one.name, float(retention(epsilon, r)), uniform(r))
            for one, r in zip(chosen, shape, strict=True)
        )
        released = Counts(tuple(one.name for one in chosen), drawn_reports(originals, given, rng))
        for name in factors:
            solution = METHODS[name].run(released, given, rng)
            true[name] += variation_distance(originals / len(table), solution.shares)
            expected[name] += METHODS[name].own_judge(released, given, solution, "data", rng).expected_avd
    for name, (least, most) in factors.items():
        assert least < expected[name] / true[name] < most, name
