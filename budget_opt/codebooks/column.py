"""A column as a codebook describes it, whatever the codebook's format."""

from __future__ import annotations

from dataclasses import dataclass

from budget_opt.model.domain import Label
from budget_opt.model.fields import LARGEST_INTEGER

STATE = "state its categories or bins, release it as a public column with the reason, or drop it"
"""What to do with a column that has no declared domain."""
LONGEST_RANGE = 20
"""Whole numbers that count as categories of their own; a longer range is better binned."""


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
        return Column(name, why_not="whole numbers without a lower and an upper limit")
    if high - low >= LONGEST_RANGE:
        return Column(
            name,
            why_not=f"{high - low + 1:,} whole numbers from {low} to {high}",
            advice=f'state "bins": [{low}, …, {high}] with a few edges, or drop it',
        )
    return Column(name, tuple(range(low, high + 1)), ordered=True, may_be_missing=may_be_missing)
