"""Moments with public columns: retention 1, no noise, and errors that are right. R30."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.moment import moment_from_cells
from budget_opt.estimators.releases.counting import Cells
from tests.estimators.release_model import design

PROBLEM = bo.Problem(
    attributes=[
        bo.Attribute("income", categories=4, scores=[0, 1, 3, 7]),
        bo.Attribute("smoker", categories=2),
    ],
    moments=[bo.CrossMoment("income", "size"), bo.CrossMoment("income", "smoker", "size")],
    public=[bo.PublicColumn("size", why="public"), bo.PublicColumn("wave", why="public")],
    total_epsilon=3.0,
    objective="geometric_mean",
    row_order="public",
)
ALLOCATION = bo.uniform(PROBLEM)
SCORES = np.array([0.0, 1.0, 3.0, 7.0])


def originals(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Size and income go together, smokers too."""
    size = rng.integers(1, 6, n) + rng.random(n).round(1)
    income = np.clip(rng.poisson(size / 2), 0, 3)
    smoker = (rng.random(n) < 0.2 + 0.1 * (income > 1) + 0.05 * size / 6).astype(int)
    wave = np.where(size > 3, "late", "early")
    return pd.DataFrame({"income": income, "smoker": smoker, "size": size, "wave": wave})


def true_moment(table: pd.DataFrame, names: tuple[str, ...]) -> float:
    columns = {"income": SCORES[table["income"]], "smoker": table["smoker"], "size": table["size"]}
    return float(
        np.mean(np.prod([np.asarray(columns[name]) - np.mean(columns[name]) for name in names], axis=0))
    )


@pytest.mark.parametrize("names", [("income", "size"), ("size", "smoker", "income")])
def test_at_a_large_epsilon_the_estimate_is_the_tables_own_moment(names: tuple[str, ...]) -> None:
    table = originals(500, np.random.default_rng(1))
    allocation = bo.uniform(PROBLEM.with_total(2000.0))
    estimate = bo.estimate.moment(bo.randomize(table, allocation), allocation, *names)
    assert estimate.value == pytest.approx(true_moment(table, names), rel=1e-9)
    assert estimate.attributes == names
    data = bo.estimate.moment(bo.randomize(table, allocation), allocation, *names, target="data")
    assert data.standard_error < 1e-6


def test_a_public_column_of_categories_takes_part_with_the_scores_of_its_values() -> None:
    table = originals(500, np.random.default_rng(2))
    allocation = bo.uniform(PROBLEM.with_total(2000.0))
    released = bo.randomize(table, allocation)
    estimate = bo.estimate.moment(
        released, allocation, "wave", "income", scores={"wave": {"early": 0, "late": 2}}
    )
    late, income = 2.0 * (table["wave"] == "late"), SCORES[table["income"]]
    assert estimate.value == pytest.approx(np.mean((late - late.mean()) * (income - income.mean())))


@pytest.mark.parametrize(
    ("names", "scores", "told"),
    [
        (("size",), None, "public columns alone"),
        (("size", "wave"), None, "public columns alone"),
        (("income", "size", "size"), None, "named 2 times"),
        (("income", "wave"), {"wave": [0, 1]}, "must map"),
        (("income", "wave"), {"wave": {"early": 0}}, "1 of the 2 values"),
        (("income", "wave"), {"wave": {"early": 0, "late": "x"}}, "not a number"),
    ],
)
def test_what_a_public_column_cannot_be_is_said_without_its_values(
    names: Any, scores: Any, told: str
) -> None:
    released = bo.randomize(originals(50, np.random.default_rng(3)), ALLOCATION)
    with pytest.raises(InputError, match=told) as caught:
        bo.estimate.moment(released, ALLOCATION, *names, scores=scores)
    if told == "1 of the 2 values":
        assert "late" not in str(caught.value)


def test_text_is_no_number() -> None:
    released = bo.randomize(originals(50, np.random.default_rng(3)), ALLOCATION)
    with pytest.raises(bo.DataError, match=r"holds categories, give scores=\{"):
        bo.estimate.moment(released, ALLOCATION, "income", "wave")


@pytest.mark.parametrize("target", ["population", "data"])
@pytest.mark.parametrize("names", [("income", "size"), ("income", "smoker", "size")])
def test_it_is_the_moment_of_a_column_with_retention_1(names: tuple[str, ...], target: Target) -> None:
    """Whose intervals cover by `test_moment_errors_by_simulation`, where the last of four is public."""
    released = bo.randomize(originals(600, np.random.default_rng(11)), ALLOCATION)
    values, codes = np.unique(released["size"], return_inverse=True)
    known = {
        "income": design("income", ALLOCATION["income"].retention, SCORES.tolist()),
        "smoker": design("smoker", ALLOCATION["smoker"].retention, [0, 1]),
        "size": design("size", 1.0, values.tolist()),
    }
    columns = {
        "income": np.asarray(released["income"]),
        "smoker": np.asarray(released["smoker"]),
        "size": codes,
    }
    cells = Cells(tuple(columns[name] for name in names), None)
    expected = moment_from_cells(cells, [known[name] for name in names], target)
    found = bo.estimate.moment(released, ALLOCATION, *names, target=target)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert found.interval() == pytest.approx(expected.interval(), rel=1e-9)
