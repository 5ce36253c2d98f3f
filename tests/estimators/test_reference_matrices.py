"""Releases of real data against the exact covariances and correlations of their truth files.

The files are not part of the product; without them the tests are skipped. The releases are drawn with a seed,
so that the bounds hold always or never: no estimate is farther than 5 standard errors from the truth (of
some 250 a table, a false alarm of 1.4e-4 for a new seed), and 90 to 99 % of the intervals cover.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def original_codes(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """The codes of the attributes that the truth file covers, as its own script makes them."""
    schema = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    frame = pd.read_csv(DATA / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    by_name = {column["name"]: column for column in schema["columns"]}
    codes = {}
    for attribute in schema["truth_attributes"]:
        column, text = by_name[attribute], frame[attribute]
        if column["type"] == "categorical":
            codes[attribute] = text.map({label: i for i, label in enumerate(column["categories"])}).to_numpy()
            continue
        edges = np.array(column["bin_edges"], dtype=float)
        missing = (text == column.get("missing_token")).to_numpy()
        numbers = text.where(~missing, str(edges[0])).astype(float)
        codes[attribute] = np.where(
            missing, edges.size - 1, np.searchsorted(edges, numbers, side="right") - 1
        )
    return codes


@pytest.mark.parametrize("name", ["alcohol", "adult", "gss_happiness", "fair"])
def test_matrices_of_a_release_are_within_their_errors_of_the_truth(name: str) -> None:
    if not DATA.is_dir():
        pytest.skip(f"the reference data are not at {DATA}")
    truth = json.loads((DATA / f"{name}.truth.json").read_text(encoding="utf-8"))
    names = truth["attributes"]
    allocation = bo.uniform(
        bo.Problem(
            attributes=[
                bo.Attribute(one, categories=truth["cardinality"][one], ordered=True) for one in names
            ],
            moments=[bo.CrossMoment(names[0], names[1])],
            total_epsilon=2.5 * len(names),
        )
    )
    rng = np.random.default_rng(len(name))
    released = {}
    for one, codes in original_codes(name).items():
        noise = rng.integers(0, truth["cardinality"][one], codes.size)
        released[one] = np.where(rng.random(codes.size) < allocation[one].retention, codes, noise)
    table = pa.table(released)
    covariance = bo.estimate.covariance(table, allocation, target="data")
    correlation = bo.estimate.correlation(table, allocation, target="data")
    for found, stated in ((covariance, truth["covariance"]), (correlation, truth["correlation"])):
        exact = np.array([[stated[a][b] for b in names] for a in names], dtype=float)
        places = tuple(np.array(list(found.pairs())).T)
        values, errors = found.values[places], found.standard_errors[places]
        known = np.isfinite(values)
        assert known.mean() > 0.8
        assert np.all(np.abs(values - exact[places])[known] <= 5 * errors[known])
        low, high = found.interval()
        covered = (low[places] <= exact[places]) & (exact[places] <= high[places])
        assert 0.9 <= covered[known].mean() <= 0.99
