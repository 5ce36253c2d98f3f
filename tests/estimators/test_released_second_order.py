"""`bo.estimate` of moments, matrices and group means on tables with survey weights and public columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.matrices.correlations import correlation_matrix
from budget_opt.estimators.moments.designs import designs_each
from budget_opt.estimators.moments.moment import moment_from_cells
from budget_opt.estimators.releases.released import open_released
from tests.estimators.survey_release import allocation, codes, frame


def test_a_table_and_its_counts_give_the_same_estimates() -> None:
    counts = bo.estimate.count(frame(), allocation(), "income", "age")
    for source in (frame(), counts):
        moment = bo.estimate.moment(source, allocation(), "income", "age")
        matrix = bo.estimate.covariance(source, allocation(), "income", "age")
        assert matrix["income", "age"].value == pytest.approx(moment.value)
        assert matrix["income", "age"].standard_error == pytest.approx(moment.standard_error)
        means = bo.estimate.group_means(source, allocation(), "age", by="income")
        assert means["0"].n == moment.n == len(frame())


def test_survey_weights_are_those_of_the_allocation_unless_they_are_left_out() -> None:
    cells = open_released(frame(), allocation(), ("income", "age")).cells("income", "age")
    designs = designs_each(allocation(), ("income", "age"))
    found = bo.estimate.moment(frame(), allocation(), "income", "age")
    assert found.value == pytest.approx(moment_from_cells(cells, designs, "population").value)
    stated = bo.estimate.moment(frame(), allocation(), "income", "age", weight="share")
    plain = bo.estimate.moment(frame(), allocation(), "income", "age", weight=False)
    assert stated == found
    assert plain.value != pytest.approx(found.value)
    assert plain.effective_n is not None
    assert found.effective_n is not None
    kish = frame()["share"].sum() ** 2 / (frame()["share"] ** 2).sum()
    assert found.effective_n < 1.5 * plain.effective_n * kish / len(frame())


@pytest.fixture(scope="module")
def nominal() -> tuple[pd.DataFrame, bo.Allocation]:
    """A release with an attribute whose categories have no order."""
    regions = ["north", "south", "west"]
    asked = bo.Problem(
        attributes=[
            bo.Attribute("region", categories=regions),
            *(bo.Attribute(name, categories=3, ordered=True) for name in "ab"),
        ],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=6.0,
    )
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 3, 2_000) for name in "ab"}
    return pd.DataFrame({"region": rng.choice(regions, 2_000), **table}), bo.uniform(asked)


def test_a_matrix_without_names_is_of_all_attributes_with_scores(
    nominal: tuple[pd.DataFrame, bo.Allocation],
) -> None:
    table, asked = nominal
    assert bo.estimate.correlation(table, asked).attributes == ("a", "b")
    scores = {"region": [0.0, 1.0, 0.0]}
    found = bo.estimate.correlation(table, asked, scores=scores)
    assert found.attributes == ("region", "a", "b")
    designs = designs_each(asked, found.attributes, scores)
    opened = open_released(table, asked, found.attributes)
    by_hand = correlation_matrix(opened.cells(*found.attributes), designs, "population")
    assert found.values == pytest.approx(by_hand.values)


def test_an_attribute_without_scores_is_refused_by_name(nominal: tuple[pd.DataFrame, bo.Allocation]) -> None:
    calls: list[Any] = [bo.estimate.covariance, bo.estimate.correlation]
    for call in calls:
        with pytest.raises(InputError, match=r"attribute 'region': its categories have no order.*Cramer's V"):
            call(*nominal, "a", "region")
        with pytest.raises(InputError, match="needs at least 2"):
            call(*nominal, "a")
    with pytest.raises(InputError, match="'region'"):
        bo.estimate.group_means(*nominal, "region", by="a")
    assert bo.estimate.group_means(*nominal, "a", by="region").groups == ("north", "south", "west")


def test_groups_of_a_public_column_and_of_missing_values_have_their_labels() -> None:
    waves = bo.estimate.group_means(frame(), allocation(), "income", by="wave", weight=False)
    assert waves.groups == ("first", "second", "third")
    columns = codes()
    inside = columns["wave"] == 1
    assert waves["second"].raw == pytest.approx(columns["income"][inside].mean())
    assert waves["second"].share == pytest.approx(inside.mean())
    ages = bo.estimate.group_means(frame(), allocation(), "income", by="age", noise_limit=np.inf)
    assert ages.groups == ("[18, 30)", "[30, 65]", "missing")
    with pytest.raises(InputError, match="the attribute whose means are wanted"):
        bo.estimate.group_means(frame(), allocation(), "income", by="income")


def test_a_bootstrap_is_kept_beside_the_error_and_draws_rows_with_their_weights() -> None:
    asked: Any = {"bootstrap": 200}
    moment = bo.estimate.moment(frame(), allocation(), "income", "age", **asked)
    assert moment.bootstrap is not None
    assert moment.bootstrap.standard_error == pytest.approx(moment.standard_error, rel=0.3)
    assert moment.to_dict()["bootstrap"]["how"].startswith("bootstrap: rows")
    assert moment.interval() == bo.estimate.moment(frame(), allocation(), "income", "age").interval()
    entry = bo.estimate.covariance(frame(), allocation(), "income", "age", **asked)["income", "age"]
    assert entry.bootstrap is not None
    assert entry.bootstrap.standard_error == pytest.approx(moment.bootstrap.standard_error)
    again = bo.estimate.moment(
        frame(), allocation(), "income", "age", rng=np.random.default_rng(1), weight=False, **asked
    )
    assert again.bootstrap is not None
    waves = bo.estimate.group_means(frame(), allocation(), "income", by="wave", **asked)
    assert waves["first"].bootstrap is not None
    assert waves["first"].bootstrap.standard_error == pytest.approx(waves["first"].standard_error, rel=0.3)
    with pytest.raises(InputError, match="for the population only"):
        bo.estimate.moment(frame(), allocation(), "income", "age", target="data", **asked)


def test_near_epsilon_0_every_estimate_is_refused_unless_asked_for() -> None:
    asked = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(name, categories=3, ordered=True) for name in "ab"],
            moments=[bo.CrossMoment("a", "b")],
            total_epsilon=0.01,
        )
    )
    rng = np.random.default_rng(1)
    table = pd.DataFrame({name: rng.integers(0, 3, 2_000) for name in "ab"})
    calls: list[Any] = [
        lambda **more: bo.estimate.moment(table, asked, "a", "b", **more),
        lambda **more: bo.estimate.moment(table, asked, "a", **more),
        lambda **more: bo.estimate.covariance(table, asked, **more),
        lambda **more: bo.estimate.group_means(table, asked, "a", by="b", **more),
    ]
    for call in calls:
        with pytest.raises(NoiseError) as caught:
            call()
        assert caught.value.standard_error > caught.value.limit
    assert bo.estimate.moment(table, asked, "a", "b", noise_limit=np.inf).standard_error > 1
    found = bo.estimate.correlation(table, asked, noise_limit=np.inf)
    assert np.isnan(found.values[0, 1])
    assert found.notes
