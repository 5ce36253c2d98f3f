"""Public columns of a release: categories, numbers, and the survey weights of its rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.errors import DataError, InputError
from budget_opt.estimators.releases.released import open_released
from budget_opt.tables import public_columns
from tests.estimators.survey_release import (
    KINDS,
    NAMES,
    N,
    allocation,
    by_hand,
    changed,
    codes,
    frame,
    originals,
    problem,
    refused,
)


def test_public_columns_come_as_categories_and_as_numbers(tmp_path: Path) -> None:
    for kind in ("pandas", "csv", "parquet", "polars"):
        found = open_released(
            KINDS[kind](tmp_path), allocation(), ["wave", "income"], numbers=["size", "share"]
        )
        assert found.labels["wave"] == ("first", "second", "third")
        assert found.channels["wave"].retention == 1.0
        assert np.array_equal(found.counts("wave", "income").rows, by_hand(("wave", "income")))
        for name in ("size", "share"):
            assert np.array_equal(found.numbers[name], frame()[name].to_numpy(dtype=float))
        assert found.rows is None
    counted = open_released(frame(), allocation(), ["wave", "income"])
    assert counted.numbers == {}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["b", "a", None], ("a", "b", None)),
        ([10, 9, 10], (9, 10)),
        ([2.0, 1.0, None], (1, 2, None)),
        ([True, False, True], (False, True)),
        ([None, None, None], (None,)),
        (pd.Categorical(["b", "b", "a"], categories=["z", "b", "a"]), ("a", "b")),
        (pd.to_datetime(["2026-01-02", "2026-01-01", "2026-01-02"]), None),
    ],
)
def test_the_categories_of_a_public_column_are_its_values_in_order(values: Any, labels: Any) -> None:
    """Whatever the order of the rows, and not what a container lists beside them."""
    table = changed(wave=_over(values))
    found = open_released(table, allocation(), ["wave"])
    if labels is None:
        assert [str(label)[:10] for label in found.labels["wave"]] == ["2026-01-01", "2026-01-02"]
    else:
        assert found.labels["wave"] == labels
        assert [type(label) for label in found.labels["wave"]] == [type(label) for label in labels]
        cells = [None if pd.isna(cell) else cell for cell in _over(values)]
        counts = [sum(cell == label for cell in cells) for label in labels]
        assert found.counts("wave").rows.tolist() == counts


def _over(values: Any) -> Any:
    return pd.Series(values).take(np.arange(N) % 3).reset_index(drop=True)


def test_a_public_column_with_too_many_values_is_no_category(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_columns, "MOST_CATEGORIES", 50)
    with pytest.raises(InputError, match="'size': has more than 50 distinct values"):
        open_released(frame(), allocation(), ["size"])
    refused(frame(), "'share': 1", "not whole", names=("share",))
    with pytest.raises(DataError, match="must have plain values"):
        open_released(changed(wave=pd.Series([[1]] * N)), allocation(), ["wave"])


@pytest.mark.parametrize("order", ["public", "shuffle"])
def test_a_release_carries_the_weights_beside_the_rows_they_belong_to(order: Any) -> None:
    public = ["share", "wave", "size"]
    released = bo.randomize(originals(), allocation(), row_order=order)
    assert list(released.columns) == ["smoker", "income", "age", *public]
    assert set(released.columns) == set(allocation().released)
    rows = [sorted(map(tuple, table[public].to_numpy().tolist())) for table in (released, originals())]
    assert rows[0] == rows[1]
    assert order == "shuffle" or released[public].equals(originals()[public])


def test_weights_are_those_of_the_allocation_of_another_column_or_none() -> None:
    share, size = (frame()[name].to_numpy(dtype=float) for name in ("share", "size"))
    for weight, expected in ((None, share), ("share", share), ("size", size)):
        found = open_released(frame(), allocation(), ["smoker"], weight).counts("smoker")
        assert found.first == pytest.approx(by_hand(("smoker",), expected))
        assert found.effective == pytest.approx(expected.sum() ** 2 / np.sum(expected**2))
    found = open_released(frame(), allocation(), ["smoker"], False).counts("smoker")
    assert found.weights is None
    assert found.effective == N
    unstated = bo.uniform(problem(survey=None))
    assert open_released(frame(), unstated, ["smoker"]).weights is None
    for wrong in ("smoker", "id", "weight"):
        with pytest.raises(InputError, match=f"'{wrong}' is not a public column of the allocation"):
            open_released(frame(), allocation(), ["smoker"], wrong)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, -1e-300, 1e101, None])
@pytest.mark.parametrize("kind", ["pandas", "csv"])
def test_r35_weights_that_are_none_are_refused_with_column_and_count_and_no_value(
    value: Any, kind: str, tmp_path: Path
) -> None:
    table: Any = changed(share=np.where(np.arange(N) < 7, value, 1.0))
    if kind == "csv":
        table.to_csv(tmp_path / "t.csv", index=False)
        table = tmp_path / "t.csv"
    error = refused(table, "column 'share': no weight, which is a finite number from 0 to 1e+100: 7 cells")
    assert (error.column, error.count) == ("share", 7)
    assert "e-300" not in str(error)


def test_weights_of_another_type_or_all_0_are_refused(tmp_path: Path) -> None:
    refused(changed(share="much"), "'share': is of type", "must hold numbers")
    refused(changed(share=0.0), "'share': no weight is above 1e-100", "weight=False")
    assert open_released(changed(share=0.0), allocation(), NAMES, weight=False).n == N
    changed(share=np.where(np.arange(N) < 3, "many", "1.5")).to_csv(tmp_path / "t.csv", index=False)
    refused(tmp_path / "t.csv", "'share': no weight", "3 cells")
    refused(
        changed(size=np.where(np.arange(N) < 2, math.nan, 1.0)),
        "not a finite number: 2 cells",
        numbers=["size"],
    )
    with pytest.raises(
        InputError, match="'smoker' is not a public column of the allocation, and only these are"
    ):
        open_released(frame(), allocation(), ["income"], numbers=["smoker"])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2, 3], pa.uint64()), [1.0, 2.0, 3.0]),
        (pa.array(["0.1", "2.5", "1.0"]).cast(pa.decimal128(5, 1)), [0.1, 2.5, 1.0]),
        (pa.array([0.5, 2.0, 1.0], pa.float32()), [0.5, 2.0, 1.0]),
        (pa.array([2**62, 1, 0]), [2.0**62, 1.0, 0.0]),
        (pa.array([True, False, True]), [1.0, 0.0, 1.0]),
        (pa.array([1.5, 2.5, 1.5]).dictionary_encode(), [1.5, 2.5, 1.5]),
    ],
)
def test_numbers_of_any_type_are_the_nearest_doubles(column: pa.Array, expected: list[float]) -> None:
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    wide = column.take(pa.array(np.arange(N) % 3))
    table = table.set_column(table.schema.get_field_index("size"), "size", wide)
    found = open_released(table, allocation(), ["smoker"], numbers=["size"])
    assert found.numbers["size"][:3].tolist() == expected


def test_the_shares_are_judged_by_the_rows_and_not_by_their_weights() -> None:
    """A category whose rows have no weight may have a weighted share that no rows could have."""
    table = changed(share=(codes()["smoker"] == 0).astype(float))
    assert open_released(table, allocation(), ["smoker"]).counts("smoker").shares[1] == 0
