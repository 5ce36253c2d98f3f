"""An allocation file with every field filled in, and the paths of its values."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from budget_opt.allocation import Allocation, Statement, allocate, uniform
from budget_opt.certificate.certify import certify
from budget_opt.model.problem import Problem

Document = dict[str, Any]
Path_ = tuple[str | int, ...]

PROBLEM = Problem.from_dict(
    {
        "name": "survey 2026",
        "total_epsilon": 3.5,
        "objective": "geometric_mean",
        "attributes": [
            {"name": "smoker", "categories": ["no", "yes"], "epsilon_max": 1.5, "marginal": [0.75, 0.25]},
            {"name": "income", "categories": 5, "scores": [0, 1, 2, 4, 8]},
            {"name": "age", "bins": [18, 30, 45, 65], "missing": "category", "missing_score": 20},
            {"name": "region", "categories": ["north", "south", "east"], "epsilon": 0.0, "other": "east"},
        ],
        "moments": [
            {"attributes": ["smoker", "income"], "weight": 3.0, "floor": 0.01, "ceiling": 0.5},
            {"attributes": ["income", "age"], "target": 2, "variance": 3},
        ],
        "groups": [{"name": "health", "attributes": ["smoker", "income"], "epsilon_max": 2.5}],
        "public": [
            {"name": "wave", "why": "the same for everybody"},
            {"name": "share", "why": "made from the sampling frame, which is public"},
        ],
        "survey": {"weight": "share"},
        "dropped": ["person_id"],
        "row_order": "public",
        "unit": {"of": "person", "id": "person_id", "max_rows": 3},
        "waves": 2,
        "provenance": {"weights": "public", "total": "private data, epsilon 0.5"},
    }
)


def solved() -> Allocation:
    """An allocation with a proved bound and every text filled in."""
    epsilon = uniform(PROBLEM).epsilons
    bound = certify(PROBLEM.arrays, epsilon).bound
    made = allocate(PROBLEM, epsilon, Statement(bound=bound, solver="test", seconds=0.25))
    outcome = replace(made.objective, certificate_sha256="0123456789abcdef" * 4)
    priced = tuple(replace(block, shadow_price=0.125) for block in made.blocks)
    return replace(made, blocks=priced, objective=outcome, sensitivity={"total_epsilon": 0.31})


WHOLE: Document = json.loads(json.dumps(solved().to_dict()))


def read(document: Document, folder: Path) -> Allocation:
    path = folder / "allocation.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Allocation.read(path)


def nodes(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from nodes(item, (*path, key))


def at(path: Path_, document: Document = WHOLE) -> Any:
    for part in path:
        document = document[part]
    return document


def changed(path: Path_, value: object) -> Document:
    document = copy.deepcopy(WHOLE)
    at(path[:-1], document)[path[-1]] = value
    return document


def dotted(path: Path_) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def field(path: Path_) -> str:
    """attributes.*.loss for attributes[2].loss."""
    return ".".join("*" if isinstance(part, int) else str(part) for part in path)


LEAVES = [path for path in nodes(WHOLE) if not isinstance(at(path), dict | list)]
ONE_OF_EACH = list({field(path): path for path in LEAVES}.values())
OBJECTS = [path for path in nodes(WHOLE) if isinstance(at(path), dict)]
