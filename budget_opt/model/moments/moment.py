"""Cross-moments, groups and the columns beside the attributes (DESIGN 3.1)."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from budget_opt.errors import MISSING, Fault
from budget_opt.model.fields import (
    Budgeted,
    Level,
    Name,
    PositiveNumber,
    Retention,
    RowsOfOne,
    Weight,
)
from budget_opt.model.parts import Part
from budget_opt.model.values import LARGEST_EPSILON, UnfitError

_ORIGIN = re.compile(r"unstated|public|private data(, epsilon (0|[1-9][0-9]*)(\.[0-9]+)?)?")


def _origin(value: object) -> str:
    if not isinstance(value, str) or not _ORIGIN.fullmatch(value):
        raise UnfitError(
            'must be "public", "private data", "private data, epsilon E" or "unstated"',
            "Say how it was chosen; what depends on the data costs privacy",
        )
    return value


Origin = Annotated[
    str,
    BeforeValidator(_origin),
    WithJsonSchema({"type": "string", "pattern": f"^(?:{_ORIGIN.pattern})$"}),
]


class CrossMoment(Part):
    """A centred cross-moment of distinct attributes: `CrossMoment("smoker", "income", weight=3.0)`.

    `weight` >= 0 is its share in the objective; `floor` and `ceiling` in (0, 1) bound its retention;
    `target` scales it in `max_min`, `variance` in `min_variance`. `level` 1 to 100 is its priority: the
    moments of a level are made as good as those of all lower numbers leave them. Raises `ProblemError`.
    """

    noun: ClassVar[str] = "the moment"
    identity: ClassVar[tuple[str, ...]] = ("attributes",)

    attributes: tuple[Name, ...]
    weight: Weight = 1.0
    floor: Retention | None = None
    ceiling: Retention | None = None
    target: PositiveNumber = 1.0
    variance: PositiveNumber = 1.0
    level: Level = 1

    def __init__(self, /, *attributes: str, **fields: Any) -> None:
        super().__init__(**fields, **({"attributes": attributes} if attributes else {}))

    @property
    def label(self) -> str:
        """The moment in words: smoker x income."""
        return " x ".join(self.attributes)

    def _laws(self) -> list[Fault]:
        faults = []
        if not self.attributes:
            faults.append(Fault("attributes", [], "must name at least one attribute", "Name some."))
        repeated = sorted({name for name in self.attributes if self.attributes.count(name) > 1})
        if repeated:
            faults.append(
                Fault(
                    "attributes",
                    list(self.attributes),
                    f"must be distinct, {', '.join(map(repr, repeated))} is repeated",
                    "The product rule holds for distinct attributes only; name each once.",
                )
            )
        if self.floor is not None and self.ceiling is not None and self.ceiling < self.floor:
            faults.append(
                Fault("ceiling", self.ceiling, f"must be at least the floor {self.floor!r}", "Change one.")
            )
        return faults

    def merged(self, twin: CrossMoment) -> CrossMoment:
        """This moment and a permuted duplicate as one: weights added, the stricter of each bound.

        And the higher priority; a weight of 0 has none.
        """
        weight = self.weight + twin.weight
        share = self.weight / weight if weight else 0.5
        floors = [floor for floor in (self.floor, twin.floor) if floor is not None]
        ceilings = [ceiling for ceiling in (self.ceiling, twin.ceiling) if ceiling is not None]
        return CrossMoment(
            *self.attributes,
            weight=weight,
            floor=max(floors, default=None),
            ceiling=min(ceilings, default=None),
            target=max((one.target for one in (self, twin) if one.weight > 0), default=self.target),
            variance=share * self.variance + (1 - share) * twin.variance,
            level=min((one.level for one in (self, twin) if one.weight > 0), default=self.level),
        )


class Group(Part):
    """Attributes whose epsilons together stay within `epsilon_max` (nats)."""

    noun: ClassVar[str] = "the group"
    identity: ClassVar[tuple[str, ...]] = ("name", "attributes")
    filler: ClassVar[dict[str, Any]] = {"epsilon_max": LARGEST_EPSILON}

    name: Name
    attributes: tuple[Name, ...]
    epsilon_max: Budgeted

    def __init__(self, /, *name: str, **fields: Any) -> None:
        super().__init__(**fields, **({"name": name[0]} if name else {}))

    def _laws(self) -> list[Fault]:
        if not self.attributes or len(set(self.attributes)) < len(self.attributes):
            listed = list(self.attributes)
            return [Fault("attributes", listed, "must be distinct and at least one", "Name each once.")]
        return []


class PublicColumn(Part):
    """A column that is released as it is, and why that reveals nothing."""

    noun: ClassVar[str] = "the public column"
    identity: ClassVar[tuple[str, ...]] = ("name",)
    filler: ClassVar[dict[str, Any]] = {"why": "unstated"}

    name: Name
    why: Name

    def __init__(self, /, *name: str, **fields: Any) -> None:
        super().__init__(**fields, **({"name": name[0]} if name else {}))


class Unit(Part):
    """Whose privacy is stated: that of one record (the default), or of a person with several.

    A person is known by the column `id`, listed under dropped or public, and has at most `max_rows` records
    (1 to 1,000,000), which a release of a whole table enforces. The budget stays that of one record: a person
    has `max_rows` times its loss. Raises `ProblemError`.
    """

    noun: ClassVar[str] = "the unit"

    of: Literal["record", "person"] = "record"
    id: Name | None = None
    max_rows: RowsOfOne = 1

    def _laws(self) -> list[Fault]:
        if self.of == "person":
            if self.id is None:
                remedy = "Name the column that tells whose record it is."
                return [Fault("id", MISSING, "is required for a person", remedy)]
            return []
        stated = {"id": self.id, "max_rows": self.max_rows}
        return [
            Fault(name, value, "has no meaning for a record", 'Give "of": "person" too, or remove it.')
            for name, value in stated.items()
            if value != type(self).model_fields[name].default
        ]


class Survey(Part):
    """What analysts need of the sample's design: names of public columns.

    `weight` is the column of survey weights, numbers >= 0: how many people of the population a row stands
    for. Like every public column it must reveal nothing about the row: weights that were made from private
    answers do.
    """

    noun: ClassVar[str] = "the survey"
    later: ClassVar[dict[str, Any]] = {"strata": None, "psu": None}
    instead: ClassVar[dict[str, str]] = dict.fromkeys(
        later, "Remove the field: no estimate uses it yet, and the errors are those of a simple sample."
    )

    weight: Name | None = None
    strata: Name | None = None
    psu: Name | None = None

    def _laws(self) -> list[Fault]:
        if (self.weight, self.strata, self.psu) == (None, None, None):
            return [Fault("weight", MISSING, "is required", "Name the column of weights, or remove survey.")]
        return []


class Provenance(Part):
    """How weights, floors, … were chosen: `public`, `private data`, `private data, epsilon E`."""

    noun: ClassVar[str] = "the provenance"

    weights: Origin = "unstated"
    floors: Origin = "unstated"
    domains: Origin = "unstated"
    scores: Origin = "unstated"
    marginals: Origin = "unstated"
    clusters: Origin = "unstated"
    total: Origin = "unstated"
