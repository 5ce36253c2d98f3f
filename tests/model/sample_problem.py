"""A small valid problem as it stands in a file, and the same with one value changed."""

from __future__ import annotations

from typing import Any

from budget_opt.errors import MISSING

Document = dict[str, Any]
BIG = 1.7976931348623157e308


def valid() -> Document:
    return {
        "format": "budget-opt/problem",
        "version": 1,
        "name": "health survey",
        "total_epsilon": 3.0,
        "objective": "weighted_sum",
        "attributes": [
            {"name": "smoker", "categories": ["no", "yes"], "epsilon_min": 0.2, "epsilon_max": 1.5},
            {"name": "income", "categories": 5, "epsilon": 0.5},
            {"name": "age", "bins": [18, 30, 45, 65]},
            {"name": "region", "categories": ["north", "south", "east"]},
        ],
        "moments": [
            {"attributes": ["smoker", "income"], "weight": 3.0, "floor": 0.01, "ceiling": 0.5},
            {"attributes": ["income", "age"]},
            {"attributes": ["age", "income"]},
            {"attributes": ["smoker", "region"]},
        ],
        "groups": [{"name": "health", "attributes": ["smoker", "income"], "epsilon_max": 1.0}],
        "public": [{"name": "wave", "why": "the same for everybody"}],
        "dropped": ["person_id"],
    }


def changed(path: str, value: object) -> Document:
    """The valid document with the value at a path such as attributes.0.epsilon; MISSING takes it out."""
    document = valid()
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place: Any = document
    for part in parents:
        place = place[part]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return document
