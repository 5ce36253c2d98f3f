"""The fields of a file as they are checked, with the standard library alone: every fault is collected."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from budget_opt.errors import MISSING, Fault
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import WIDTHS
from budget_opt.model import values
from budget_opt.model.differences import differences
from budget_opt.model.values import UnfitError

_COUNT = re.compile("[1-9][0-9]{0,38}")
T = TypeVar("T")


class Stated:
    """The fields of one JSON object: each is taken through a check, and what is wrong is collected."""

    def __init__(
        self,
        fields: Any,
        where: str,
        faults: list[Fault],
        required: AbstractSet[str],
        optional: AbstractSet[str] = frozenset(),
    ) -> None:
        self.faults, self._where, self.sound = faults, where, True
        self._fields: Mapping[str, Any] = fields if isinstance(fields, Mapping) else {}
        if not isinstance(fields, Mapping):
            self.tell("", fields, UnfitError("must be an object", "Write its fields in braces"))
            return
        for name in fields:
            if name not in required | optional:
                self.tell(str(name), fields[name], UnfitError("is not a field of this format", "Remove it"))
        for name in sorted(required - set(fields)):
            self.tell(name, MISSING, UnfitError("is required", "Add the field"))

    def take(self, name: str, check: Callable[[Any], T]) -> T | None:
        """The field as its check returns it; None where it is absent or faulty."""
        if name not in self._fields:
            return None
        try:
            return check(self._fields[name])
        except UnfitError as why:
            self.tell(name, self._fields[name], why)
            return None

    def made(self, name: str, make: Callable[[], T]) -> T | None:
        """What is made of this field and others; None where it does not fit these, which is recorded."""
        try:
            return make()
        except UnfitError as why:
            self.tell(name, self._fields.get(name, MISSING), why)
            return None

    def part(self, name: str, required: AbstractSet[str], optional: AbstractSet[str] = frozenset()) -> Stated:
        """A field that is an object itself."""
        return Stated(self._fields.get(name, {}), self._path(name), self.faults, required, optional)

    def objects(
        self, name: str, required: AbstractSet[str], optional: AbstractSet[str] = frozenset()
    ) -> list[Stated]:
        """A field that is a list of objects."""
        return [
            Stated(item, f"{self._path(name)}[{i}]", self.faults, required, optional)
            for i, item in enumerate(self.take(name, items) or [])
        ]

    def compare(self, computed: Mapping[str, Any], among: AbstractSet[str] = frozenset()) -> None:
        """These fields must be what is recomputed, and others `among` these must not be there."""
        stated = {name: value for name, value in self._fields.items() if name in among | computed.keys()}
        self.faults += differences(stated, computed, self._where)

    def tell(self, name: str, value: object, why: UnfitError) -> None:
        """Record a fault of a field, or of the object itself where the name is blank."""
        self.sound = False
        self.faults.append(Fault(self._path(name), value, why.limit, f"{why.remedy}."))

    def _path(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where and name else self._where or name


def unless_none(check: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """What the check returns; None passes."""
    return lambda value: None if value is None else check(value)


def one_of(*allowed: str) -> Callable[[Any], str]:
    """One of these words."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise UnfitError(f"must be {' or '.join(allowed)}", "No other is supported")
        return value

    return check


def unasked(idle: object) -> Callable[[Any], None]:
    """Accepts a field that asks for nothing."""

    def check(value: Any) -> None:
        if isinstance(value, bool) or value != idle:
            raise UnfitError("not supported yet", "Remove what it asks for")

    return check


def items(value: Any) -> list[Any]:
    """The items of a list."""
    if not isinstance(value, list | tuple):
        raise UnfitError("must be a list", "Write its items in brackets")
    return list(value)


def names(value: Any) -> tuple[str, ...]:
    """A list of names."""
    return tuple(values.name(item) for item in items(value))


def members(known: Collection[str], least: int = 1) -> Callable[[Any], tuple[str, ...]]:
    """Distinct names among the known ones, at least `least` of them."""
    some = "distinct names" if least == 1 else f"{least} or more distinct names"

    def check(value: Any) -> tuple[str, ...]:
        given = names(value)
        if len(given) < least or len(set(given)) < len(given) or not set(given) <= set(known):
            raise UnfitError(f"must be {some} of attributes", "Correct the names")
        return given

    return check


def width(value: Any) -> int:
    """The stated width of a sampler, which has bits, and q or counts; these are compared with ours later."""
    if not isinstance(value, Mapping) or set(value) not in ({"bits", "q"}, {"bits", "counts"}):
        raise UnfitError(
            "must be null, or have the fields bits and q (or counts) alone", "The file is damaged"
        )
    counts = [value["q"]] if "q" in value else items(value["counts"])
    if not all(isinstance(count, str) and _COUNT.fullmatch(count) for count in counts):
        raise UnfitError("must have q or counts as texts of positive integers", "The file is damaged")
    return _bits(value["bits"])


def _bits(value: Any) -> int:
    """A width of words: 32.0 and True are none."""
    if type(value) is not int or value not in WIDTHS:
        raise UnfitError(f"must have bits of {', '.join(map(str, WIDTHS))}", "The file is damaged")
    return value


def stated_matrix(value: Any) -> MatrixSampler:
    """The stated sampler of an attribute with a source: bits, and rows of counts."""
    damaged = "The file is damaged"
    if not isinstance(value, Mapping) or set(value) != {"bits", "rows"}:
        raise UnfitError("must be null, or have the fields bits and rows alone", damaged)
    rows = [items(row) for row in items(value["rows"])]
    texts = [count for row in rows for count in row]
    if not all(isinstance(count, str) and (count == "0" or _COUNT.fullmatch(count)) for count in texts):
        raise UnfitError("must have rows of texts of integers >= 0", damaged)
    bits = _bits(value["bits"])
    try:
        return MatrixSampler(bits, tuple(tuple(map(int, row)) for row in rows))
    except ValueError as why:
        raise UnfitError(f"is no matrix: {why}", damaged) from None
