"""The JSON Schema of a problem file: every field of DESIGN 3.1, also those that are not supported yet."""

from __future__ import annotations

from typing import Any

from budget_opt.model.problem import Problem


def problem_schema() -> dict[str, Any]:
    """JSON Schema of the problem file (draft 2020-12).

    It says what one field may hold; what holds between fields (names, budgets) is checked on reading.
    """
    schema = Problem.model_json_schema()
    schema["required"] = ["format", "version", *schema["required"]]
    schema["properties"]["attributes"]["minItems"] = 1
    parts = schema["$defs"]
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
