"""Ours beside Castell (2022): mean errors, crossover points w*, and error against domain size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np

from budget_opt.estimators.joint.hybrid_thresholds import hybrid_thresholds

Rows = Sequence[Mapping[str, Any]]

PAPER_HYBRID, PAPER_TRUNCATED, PAPER_LOPUB = 0.0155, 0.0099, (0.03, 0.04)
"""AVD on Adult, 2 to 6 way, as reported."""
PAPER_CELLS, PAPER_SIZE = 100_365, {"Census sample": 2_458_285}
"""Where the paper's line reaches 0.5; records of the paper's table where ours has fewer."""


def series(rows: Rows, data: str, budget: str, epsilon: float, method: str) -> list[Mapping[str, Any]]:
    """The rows of one method by w."""
    return [
        row
        for row in rows
        if (row["data"], row["budget"], row["epsilon"], row["method"]) == (data, budget, epsilon, method)
    ]


def switched_after(rows: Rows, epsilon: float, w_star: int, field: str) -> float:
    """Adult, mean over w of RR-Ind-Joint up to w_star, of RR-Independent beyond: the paper's hybrid."""
    joint = series(rows, "Adult", "attribute", epsilon, "RR-Ind-Joint")
    independent = series(rows, "Adult", "attribute", epsilon, "RR-Independent")
    return mean(
        float((before if before["w"] <= w_star else after)[field])
        for before, after in zip(joint, independent, strict=True)
    )


def crossover(rows: Rows, data: str, epsilon: float) -> int:
    """The largest w up to which RR-Ind-Joint has the smaller mean AVD of our runs, 1 where it never has."""
    found = 1
    joint = series(rows, data, "attribute", epsilon, "RR-Ind-Joint")
    independent = series(rows, data, "attribute", epsilon, "RR-Independent")
    for one, other in zip(joint, independent, strict=True):
        if one["avd"] > other["avd"]:
            break
        found = one["w"]
    return found


def computed_w(table: Mapping[str, Any], epsilon: float, rule: Any, dependence: float | None = None) -> int:
    """w* of attributes of the table's geometric mean cardinality, at the number of records of the paper."""
    r = max(2, round(math.exp(mean(math.log(one) for one in table["cardinalities"]))))
    n = PAPER_SIZE.get(table["title"], table["n"])
    return hybrid_thresholds([r] * 10, epsilon, n, rule=rule, dependence=dependence).w


def line_through(growth: Rows, field: str) -> tuple[float, float]:
    """Intercept and slope of the least-squares line of an error against the number of cells."""
    slope, intercept = np.polyfit([one["cells"] for one in growth], [one[field] for one in growth], 1)
    return float(intercept), float(slope)


def cells_at(growth: Rows, field: str, error: float = 0.5) -> float:
    """The number of cells at which the line reaches `error`."""
    intercept, slope = line_through(growth, field)
    return (error - intercept) / slope


def power(growth: Rows, field: str) -> float:
    """The exponent b of error = a cells^b, by least squares of the logarithms."""
    slope, _ = np.polyfit(
        [math.log(one["cells"]) for one in growth], [math.log(one[field]) for one in growth], 1
    )
    return float(slope)
