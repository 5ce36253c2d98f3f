"""The JSON Schema of a problem file: every field of DESIGN 3.1, also those that are not supported yet."""

from __future__ import annotations

from typing import Any

from budget_opt.model.attribute import Attribute
from budget_opt.model.descriptions import PROBLEM, described
from budget_opt.model.moments.moment import CrossMoment, Group, Provenance, PublicColumn, Survey, Unit
from budget_opt.model.moments.rules import MomentRule
from budget_opt.model.parts import Part
from budget_opt.model.problem import Problem

_PARTS: tuple[type[Part], ...] = (
    Attribute,
    CrossMoment,
    Group,
    MomentRule,
    Provenance,
    PublicColumn,
    Survey,
    Unit,
)


def problem_schema() -> dict[str, Any]:
    """JSON Schema of the problem file (draft 2020-12).

    It says what one field may hold; what holds between fields (names, budgets) is checked on reading.
    """
    schema = described(Problem.model_json_schema(), Problem, PROBLEM)
    schema["required"] = ["format", "version", *schema["required"]]
    schema["properties"]["attributes"]["minItems"] = 1
    parts = schema["$defs"]
    parts |= {part.__name__: described(parts[part.__name__], part, PROBLEM) for part in _PARTS}
    for name in ("CrossMoment", "Group"):
        parts[name]["properties"]["attributes"] |= {"minItems": 1, "uniqueItems": True}
    # exactly one of them; null stands for a field that is left out
    parts["Attribute"]["oneOf"] = [_given("categories"), _given("bins")]
    rule = parts["MomentRule"]
    rule["oneOf"] = [_given("formula"), _given("all_pairs"), _given("pairs_with")]
    rule["dependentRequired"] = {"names": ["pairs_with"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _given(field: str) -> dict[str, Any]:
    return {"required": [field], "properties": {field: {"not": {"type": "null"}}}}
