"""The fields of an allocation file: their types on reading, and the JSON Schema of all of it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, StrictInt, WithJsonSchema

from budget_opt.allocation.descriptions import ALLOCATION
from budget_opt.errors import MISSING, AllocationError, Fault, InputError
from budget_opt.model.arrays import Objective
from budget_opt.model.declared import Declared
from budget_opt.model.descriptions import described
from budget_opt.model.fields import (
    Budgeted,
    Delta,
    Finite,
    Name,
    NotNegative,
    PositiveBudget,
    RowsOfOne,
    Share,
    Title,
    Waves,
)
from budget_opt.model.moments.moment import CrossMoment, Group, Provenance, PublicColumn, Survey, Unit
from budget_opt.model.parts import Part
from budget_opt.model.values import UnfitError

FORMAT: Literal["budget-opt/allocation"] = "budget-opt/allocation"
VERSION: Literal[1] = 1
Digest = Field(pattern="^[0-9a-f]{64}$")


def _instant(value: object) -> str:
    limit, remedy = "must be a date and time that exist, in UTC", 'Write it like "2026-11-30T12:00:00Z"'
    if not isinstance(value, str) or not re.fullmatch(_INSTANT, value):
        raise UnfitError(limit, remedy)
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise UnfitError(limit, remedy) from None
    return value


_INSTANT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
Instant = Annotated[
    str,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": _INSTANT}),
]
"""A second of the calendar in UTC."""


class _Stated(Part):
    error: ClassVar[type[InputError]] = AllocationError


_COUNT = "^[1-9][0-9]{0,38}$"
_NONE_OR_COUNT = "^(0|[1-9][0-9]{0,38})$"


class SamplerIntegers(_Stated):
    """b and q of DESIGN 2.8, `counts` of another background, or `rows` of counts of a known source's matrix.

    All are decimal strings: they may exceed 2^53.
    """

    noun: ClassVar[str] = "the sampler"

    bits: Literal[32, 64, 128]
    q: str | None = Field(default=None, pattern=_COUNT)
    counts: tuple[Annotated[str, Field(pattern=_COUNT)], ...] | None = None
    rows: tuple[tuple[Annotated[str, Field(pattern=_NONE_OR_COUNT)], ...], ...] | None = None

    def _laws(self) -> list[Fault]:
        if self.rows is not None:
            beside = [name for name in ("q", "counts") if getattr(self, name) is not None]
            return [
                Fault(name, "stated", "is there beside rows", "Remove one of the two.") for name in beside
            ]
        if self.q is None and self.counts is None:
            remedy = "Add it, or counts where the background is not uniform."
            return [Fault("q", MISSING, "is required", remedy)]
        if self.q is not None and self.counts is not None:
            return [Fault("counts", len(self.counts), "are there beside q", "Remove one of the two.")]
        return []


class _BlockResults(_Stated):
    """What an allocation states of all that is randomized as one, and of every member's own column."""

    cardinality: StrictInt
    epsilon: Budgeted
    loss: Finite
    retention: Finite | None
    truth_probability: Finite | None
    other_probability: Finite | None
    sampler: dict[str, Any] | None
    shadow_price: Finite | None = None


class AttributeResults(_BlockResults):
    """What an allocation states of an attribute beside its declaration.

    With a known source `retention` is null; `distortion` is the expected share of changed cells in the worst
    case of the source, and `effect` what the matrix makes of each category's score, where there are scores.
    """

    noun: ClassVar[str] = "the attribute"

    cluster: Title | None = None
    distortion: Finite | None = None
    effect: tuple[Finite, ...] | None = None


class ClusterResults(_BlockResults):
    """A cluster: its members in the order of the joint code, and what an attribute states for itself.

    It has a retention whatever its members are: none of them has a source.
    """

    noun: ClassVar[str] = "the cluster"

    name: Title
    members: tuple[Name, ...]
    background: Literal["uniform", "product"]
    retention: Finite


UNIFORM: Literal["uniform"] = "uniform"
PRODUCT: Literal["product"] = "product"
"""The background of a cluster: that of its members, each on its own, where one of them is not uniform."""
RETENTION_OF = "function of the cluster"
"""What `retention` is the factor on where a moment has two members of one cluster."""


class MomentResults(_Stated):
    """What an allocation states of a moment beside the question."""

    noun: ClassVar[str] = "the moment"

    retention: Finite
    variance_inflation: Finite | None
    variance_basis: str
    floor_price: Finite | None = None
    ceiling_price: Finite | None = None
    retention_of: Literal["function of the cluster"] | None = None
    detail: Share | None = None


class Privacy(_Stated):
    """The unit, the neighbours, the composition, and the loss of one record in nats.

    `composition` says how the total holds: as a sum, or with `total_delta` by convolution; `loss` and
    `planned_loss` are sums either way. `planned_loss` is that of one unit over all waves; it is stated where
    there are persons or several waves.
    """

    noun: ClassVar[str] = "privacy"

    unit: Literal["record", "person"]
    neighbours: Literal["one record's values replaced"]
    composition: Literal["sum", "convolution"]
    loss: Finite
    id: Name | None = None
    max_rows: RowsOfOne = 1
    waves: Waves = 1
    planned_loss: Finite | None = None

    def _laws(self) -> list[Fault]:
        try:
            Unit(of=self.unit, id=self.id, max_rows=self.max_rows)
        except InputError as failure:
            return list(failure.faults)
        return []


class OutcomeResults(_Stated):
    """The objective: value, bound, gap and who found it."""

    noun: ClassVar[str] = "the objective"

    kind: Objective
    value: Finite | None
    bound: Finite | None
    relative_gap: Finite | None
    gap_tolerance: Share
    status: Literal["optimal", "feasible", "given"]
    solver: Title
    seconds: NotNegative
    certificate_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")


class AllocationDocument(_Stated):
    """The whole file; attributes, moments and columns are read apart."""

    noun: ClassVar[str] = "the allocation"
    format: Literal["budget-opt/allocation"]
    version: Literal[1]
    name: Title
    problem_sha256: str = Digest
    created: Instant
    software: Title
    total_epsilon: PositiveBudget | None
    total_delta: Delta
    spent_epsilon: Finite
    privacy: dict[str, Any]
    objective: dict[str, Any]
    attributes: tuple[dict[str, Any], ...]
    moments: tuple[dict[str, Any], ...]
    clusters: tuple[dict[str, Any], ...]
    groups: tuple[dict[str, Any], ...]
    public: tuple[dict[str, Any], ...]
    dropped: tuple[Name, ...]
    row_order: Literal["shuffle", "public"]
    provenance: dict[str, Any]
    sensitivity: dict[str, Finite]
    survey: dict[str, Any] | None = None


def allocation_schema() -> dict[str, Any]:
    """JSON Schema of the allocation file (draft 2020-12)."""
    schema = described(AllocationDocument.model_json_schema(), AllocationDocument, ALLOCATION)
    attribute = _joined(Declared, AttributeResults)
    attribute["properties"]["sampler"]["anyOf"] = [_plain(SamplerIntegers), {"type": "null"}]
    fields = schema["properties"]
    fields["attributes"]["items"] = attribute
    cluster = _plain(ClusterResults)
    cluster["properties"]["sampler"] = attribute["properties"]["sampler"]
    fields["clusters"]["items"] = cluster
    fields["moments"]["items"] = _joined(CrossMoment, MomentResults)
    fields["privacy"] = _plain(Privacy)
    fields["objective"] = _plain(OutcomeResults)
    fields["provenance"] = _plain(Provenance)
    fields["groups"]["items"] = _plain(Group)
    fields["public"]["items"] = _plain(PublicColumn)
    fields["survey"] = _plain(Survey)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _plain(part: type[Part]) -> dict[str, Any]:
    return {"type": "object", **described(part.model_json_schema(), part, ALLOCATION)}


def _joined(stated: type[Part], results: type[Part]) -> dict[str, Any]:
    """The schema of an object that has the fields of both parts."""
    first, second = _plain(stated), _plain(results)
    return {
        "type": "object",
        "properties": {**first["properties"], **second["properties"]},
        "required": sorted({*first.get("required", ()), *second.get("required", ())}),
        "additionalProperties": False,
    }
