"""What becomes of a value outside the declared domain: refused, drawn in silence, or passed on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import pyarrow as pa

from budget_opt.allocation import AllocatedAttribute
from budget_opt.verifier.auditing.black_box import BlackBox
from budget_opt.verifier.auditing.made_up import MISSING_VALUE, undeclared
from budget_opt.verifier.auditing.rows import Codes
from budget_opt.verifier.auditing.samplers import SamplerError

RECORDS = 40
Outcome = Literal["refused", "drawn", "unchanged"]


@dataclass(frozen=True)
class Undeclared:
    """One value that `attribute` does not declare, `what` it is, how often it came back."""

    attribute: AllocatedAttribute
    what: str
    outcome: Outcome
    unchanged: int = 0

    @property
    def drawn_in_silence(self) -> bool:
        """True where reports came back for it, and no category is declared to take it."""
        takes_it = self.attribute.domain.other is not None and self.what != MISSING_VALUE
        return self.outcome == "drawn" and not takes_it


def outcomes(box: BlackBox, records: Codes, most: int) -> tuple[list[Undeclared], int]:
    """What becomes of each, for at most `most` values; and how many there are. `records` are valid ones."""
    asked = [
        (attribute, what, value)
        for attribute in box.attributes
        for what, value in undeclared(attribute.domain).items()
    ]
    valid = box.table(records)
    return [_outcome(box, valid, *one) for one in islice(_by_turns(asked), most)], len(asked)


def _by_turns(asked: list[tuple[AllocatedAttribute, str, Any]]) -> Iterator[Any]:
    """All attributes with one kind of value, then with the next."""
    return iter(sorted(asked, key=lambda one: one[1]))


def _outcome(
    box: BlackBox, valid: pa.Table, attribute: AllocatedAttribute, what: str, value: Any
) -> Undeclared:
    place = valid.schema.get_field_index(attribute.name)
    kind = valid.schema.field(place).type
    column = pa.array([value] * len(valid), type=kind)
    try:
        reports = box.answer(valid.set_column(place, attribute.name, column)).values(attribute.name)
    except SamplerError:
        return Undeclared(attribute, what, "refused")
    unchanged = sum(_same(report, value) for report in reports)
    return Undeclared(attribute, what, "unchanged" if unchanged else "drawn", unchanged)


def _same(report: Any, value: Any) -> bool:
    if value is None:
        return report is None or (isinstance(report, float) and math.isnan(report))
    if type(report) is str and type(value) is not str:  # from CSV
        return report in {str(value), f"{value:g}"}
    return bool(report == value)
