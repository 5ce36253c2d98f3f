"""The problem that the tests of grids share."""

from __future__ import annotations

from typing import Any

import budget_opt as bo
from budget_opt.model.arrays import Objective


def problem(objective: Objective = "geometric_mean", **fields: Any) -> bo.Problem:
    given: dict[str, Any] = {
        "attributes": [
            bo.Attribute("smoker", categories=2, epsilon_max=1.5),
            bo.Attribute("income", categories=5, epsilon_min=0.23),
            bo.Attribute("region", categories=4),
            bo.Attribute("sex", categories=2, epsilon=0.61),
        ],
        "moments": [
            bo.CrossMoment("smoker", "income", weight=3.0, floor=0.15),
            bo.CrossMoment("income", "region", ceiling=0.25),
            bo.CrossMoment("region", "sex"),
        ],
        "groups": [bo.Group("health", attributes=["smoker", "income"], epsilon_max=3.5)],
        "total_epsilon": 5.0,
        "objective": objective,
    }
    return bo.Problem(**{**given, **fields})
