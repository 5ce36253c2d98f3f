"""The field `source` of an attribute as it is parsed, written and described (`known_source`)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from budget_opt.model.sources.known_source import KnownSource, known_source

_SHARES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "number", "minimum": 0, "maximum": 1},
    "minItems": 2,
}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _object({"between": _object({"lower": _SHARES, "upper": _SHARES})}),
        _object({"ordered": _object({"first_at_least": {"type": "number", "minimum": 0, "maximum": 1}})}),
        _object({"distributions": {"type": "array", "items": _SHARES, "minItems": 1}}),
    ]
}
KnownSourceField = Annotated[
    KnownSource,
    BeforeValidator(known_source),
    PlainSerializer(KnownSource.to_json),
    WithJsonSchema(_SCHEMA),
]
