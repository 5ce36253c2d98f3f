"""How a part of a document (an attribute, a moment, …) is parsed so that all its faults are told at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from budget_opt.errors import MISSING, Fault, InputError, ProblemError
from budget_opt.model.values import UnfitError


class Part(BaseModel):
    """A frozen noun of a file format; building one reports every fault as a `ProblemError`.

    `later` names fields of the format that this version reads but does not support, with the value
    that is accepted because it asks for nothing; `instead` says what to do about one. `identity` and
    `filler` make the stand-in of a part that is faulty, so that what refers to it is still checked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)
    later: ClassVar[Mapping[str, Any]] = {}
    instead: ClassVar[Mapping[str, str]] = {}
    error: ClassVar[type[InputError]] = ProblemError
    noun: ClassVar[str] = "the part"
    identity: ClassVar[tuple[str, ...]] = ()
    filler: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, /, **fields: Any) -> None:
        unordered = [name for name, value in fields.items() if isinstance(value, set | frozenset)]
        if unordered:
            faults = [Fault(name, fields[name], "has no order", "Give a list.") for name in unordered]
            raise self.error.from_faults(faults, self.noun)
        try:
            super().__init__(**fields)
        except ValidationError as failure:
            # what pydantic could not parse is left out, so that the laws of the rest are still checked
            bad = dict.fromkeys(str(detail["loc"][0]) for detail in failure.errors())
            later = [name for name in bad if name in self.later and name in fields]
            faults = [self._not_yet(name, fields[name]) for name in later]
            faults += [
                fault_of(detail, type(self)) for detail in failure.errors() if detail["loc"][0] not in later
            ]
            faults += self._laws_without(fields, set(bad))
            raise self.error.from_faults(faults, self.noun) from None
        if faults := self._faults():
            raise self.error.from_faults(faults, self.noun)

    def _faults(self) -> list[Fault]:
        asked = [name for name, idle in self.later.items() if getattr(self, name) != idle]
        return [*(self._not_yet(name, getattr(self, name)) for name in asked), *self._laws()]

    @classmethod
    def _not_yet(cls, field: str, value: object) -> Fault:
        return Fault(field, value, "not supported yet", cls.instead.get(field, "Remove the field."))

    def _laws(self) -> list[Fault]:
        """Faults that concern several fields, paths relative to this part."""
        return []

    def _laws_without(self, fields: Mapping[str, Any], bad: set[str]) -> list[Fault]:
        required = {name for name, field in type(self).model_fields.items() if field.is_required()}
        if bad & required:
            return []
        super().__init__(**{name: value for name, value in fields.items() if name not in bad})
        return [fault for fault in self._faults() if bad.isdisjoint(_fields_of(fault))]

    @classmethod
    def stand_in(cls, fields: Mapping[str, Any]) -> Self | None:
        """A valid part with the identity of a faulty one, None where even that is faulty."""
        try:
            return cls(**{name: fields[name] for name in cls.identity}, **cls.filler)
        except (InputError, KeyError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """The part as it stands in a file: fields that say their default are left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def with_fields(self, **changes: Any) -> Self:
        """A copy with these fields changed, checked like a new one."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**fields, **changes})


def _fields_of(fault: Fault) -> list[str]:
    """The fields of a part that a fault is about: attributes[2].bins -> attributes; a, b -> a and b."""
    return re.split(r"[.\[]", fault.where)[0].split(", ")


def fault_of(detail: ErrorDetails, model: type[BaseModel]) -> Fault:
    """One pydantic error as a fault: path, value, limit, way out."""
    where = path(detail["loc"])
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = list(model.model_fields)
        near = nearest(str(detail["loc"][-1]), known)
        hint = f'Did you mean "{near}"?' if near else "Remove it."
        return Fault(where, detail["input"], "is not a field of this format", hint)
    if kind == "missing":
        return Fault(where, MISSING, "is required", "Add the field.")
    why = detail.get("ctx", {}).get("error")
    if isinstance(why, UnfitError):
        return Fault(where, detail["input"], why.limit, f"{why.remedy}.")
    message = detail["msg"]
    limit = message[:1].lower() + message[1:].replace("Input should", "should")
    return Fault(
        where,
        detail["input"],
        limit.replace("input should", "must").replace("tuple", "list"),
        "Correct the field.",
    )


def path(parts: Iterable[int | str]) -> str:
    """attributes, 2, epsilon_max -> attributes[2].epsilon_max."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def below(prefix: str, faults: Iterable[Fault]) -> list[Fault]:
    """The same faults with the path of the whole document."""
    return [
        Fault(f"{prefix}.{fault.where}" if fault.where else prefix, fault.value, fault.limit, fault.remedy)
        for fault in faults
    ]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is probably meant to be."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else None
