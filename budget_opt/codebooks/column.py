"""A column as a codebook describes it, whatever the codebook's format."""

from __future__ import annotations

import re
from dataclasses import dataclass

from budget_opt.model.domain import Label
from budget_opt.model.values import LARGEST_INTEGER

STATE = "state its categories or bins, release it as a public column with the reason, or drop it"
"""What to do with a column that has no declared domain."""
BINS = 'state its categories, or "bins" whose edges do not come from the data, or drop it'
"""The same for numbers."""
TEXT = "drop it: free text can show who somebody is (only where its values are a fixed list, state them)"
"""The same for text, which is never to be released as it is."""
LONGEST_RANGE = 20
"""Whole numbers that count as categories of their own; a longer range is better binned."""

_TEXTS = {
    *("any", "string", "str", "object", "utf8", "large_string", "large_utf8", "string_view", "token"),
    *("normalizedstring", "anyuri", "anyatomictype", "json", "xml", "html", "array", "list", "geojson"),
    *("geopoint", "binary", "large_binary", "bytes"),
}
_NUMBERS = re.compile(r"u?int(eger)?[0-9]*|(half)?float[0-9]*|double|decimal.*|number|numeric|year|gyear")


@dataclass(frozen=True)
class Column:
    """One column: its codes in the data in order, what they mean, or why its domain is not known.

    `codes` leave out those that are `missing` answers (as text, to be shown); `labels` are empty where the
    codes speak for themselves. `may_be_missing` makes the missing category. Without codes, `why_not` says
    why, and `advice` what to do.
    """

    name: str
    codes: tuple[Label, ...] = ()
    labels: tuple[str, ...] = ()
    ordered: bool = False
    may_be_missing: bool = False
    missing: tuple[str, ...] = ()
    why_not: str = ""
    advice: str = STATE
    notes: tuple[str, ...] = ()


def advice_for(kind: object) -> str:
    """What to do with a column of this type, as any codebook names it, that has no declared domain."""
    word = str(kind).lower()
    if word in _TEXTS:
        return TEXT
    return BINS if _NUMBERS.fullmatch(word) else STATE


def unique_column(name: str) -> Column:
    """A column of which no two rows have the same value: no attribute, whatever values are declared."""
    return Column(name, why_not="different in every row", advice="drop it: it says which record is whose")


def shown(text: object) -> str:
    """What somebody wrote into a codebook, so that it cannot steer a terminal; cut where it is long."""
    plain = str(text)
    plain = plain if plain.isprintable() else repr(plain)
    return plain if len(plain) <= 80 else f"{plain[:77]}..."


def whole(value: object) -> int | None:
    """A number without a fraction as an integer, None for anything else; 1.0 of a label file is code 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) <= LARGEST_INTEGER and value == int(value) else None


def range_column(name: str, low: int | None, high: int | None, *, may_be_missing: bool) -> Column:
    """A column of whole numbers from `low` to `high`: categories where they are few, else advice on bins."""
    if low is None or high is None or high <= low:
        return Column(name, why_not="whole numbers without a lower and an upper limit", advice=BINS)
    if high - low >= LONGEST_RANGE:
        return Column(
            name,
            why_not=f"{high - low + 1:,} whole numbers from {low} to {high}",
            advice=f'state "bins": [{low}, …, {high}] with a few edges, or drop it',
        )
    return Column(name, tuple(range(low, high + 1)), ordered=True, may_be_missing=may_be_missing)
