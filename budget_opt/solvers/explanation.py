"""Conflicts in words, with the way out; numbers are rounded so that following the advice works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np

from budget_opt.errors import InfeasibleError
from budget_opt.model.arrays import TOTAL, Arrays, IntArray
from budget_opt.solvers.feasibility import CeilingConflict, Conflict, lowered_floors

_SHOWN = 10
"""At most so many floors are named."""


@dataclass(frozen=True)
class Names:
    """How a problem's attributes and moments are called in messages; budgets bear their own names."""

    attributes: Sequence[str]
    moments: Sequence[str]

    @classmethod
    def numbered(cls, arrays: Arrays) -> Names:
        """Names for arrays that came without any."""
        attributes = [f"attribute {i + 1}" for i in range(arrays.attributes)]
        moments = [" x ".join(attributes[i] for i in arrays.members(k)) for k in range(arrays.moments)]
        return cls(attributes, moments)


def rounded_up(number: float, digits: int = 4) -> float:
    """The next decimal of so many digits that is at least `number`."""
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(number)))


def rounded_down(number: float, digits: int = 3) -> float:
    """The next decimal of so many digits that is at most `number`."""
    return float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(number)))


def infeasible(arrays: Arrays, found: Conflict, names: Names) -> InfeasibleError:
    """The error that says what conflicts, the least total that would do, and what floors would."""
    total = next((float(budget.cap) for budget in arrays.budgets if budget.name == TOTAL), None)
    least = None if found.least_total is None else rounded_up(found.least_total)
    floors = [_floor(arrays, names, int(k)) for k in found.floors]
    limits = [_budget(arrays, int(j)) for j in found.budgets if arrays.budgets[j].name != TOTAL]
    limits += [_ceiling(arrays, names, int(k)) for k in found.ceilings]
    limits += [_bound(arrays, names, int(m)) for m in found.bounds]
    lines = [_headline(least, total), f"They conflict in: {_listed(floors)}{_against(limits)}."]
    lines.append(_way_out(arrays, found, least, total))
    return InfeasibleError(
        "\n  ".join(line for line in lines if line),
        least_total=least,
        total=total,
        conflicts=(*floors, *limits),
    )


def ceiling_infeasible(arrays: Arrays, found: Sequence[CeilingConflict], names: Names) -> InfeasibleError:
    """The error for ceilings that bounds, pins and floors already pass."""
    listed = [
        f"{names.moments[one.ceiling]} <= {np.exp(arrays.log_ceiling[one.ceiling]):.4g}" for one in found
    ]
    first = found[0]
    return InfeasibleError(
        f"the ceilings cannot hold: {_listed(listed)}.\n"
        "  Minima, pins and floors of their attributes alone force a retention of at least "
        f"{rounded_down(first.least_retention * (1 + 1e-12), 4):g} for {names.moments[first.ceiling]}.\n"
        "  Raise the ceiling above that, or lower those minima and floors.",
        conflicts=tuple(listed),
    )


def unreleasable(moments: IntArray, names: Names) -> InfeasibleError:
    """The error for a variance that no split makes finite."""
    listed = [names.moments[k] for k in moments]
    return InfeasibleError(
        f"min_variance cannot be finite: {_listed(listed)} have an attribute whose epsilon can only be 0.\n"
        "  Give that attribute an epsilon, or the moment the weight 0.",
        conflicts=tuple(listed),
    )


def _headline(least: float | None, total: float | None) -> str:
    if least is None:
        return "no total epsilon meets the floors: ceilings, groups, bounds or pins are in their way."
    if total is None:
        return "the floors do not fit the bounds."
    return f"the floors need a total epsilon of at least {least:g}, the problem allows {total:g}."


def _floor(arrays: Arrays, names: Names, k: int) -> str:
    return f"{names.moments[k]} >= {np.exp(arrays.log_floor[k]):.12g}"


def _ceiling(arrays: Arrays, names: Names, k: int) -> str:
    return f"{names.moments[k]} <= {np.exp(arrays.log_ceiling[k]):.12g}"


def _budget(arrays: Arrays, j: int) -> str:
    return f"group {arrays.budgets[j].name!r} <= {float(arrays.budgets[j].cap):.12g}"


def _bound(arrays: Arrays, names: Names, m: int) -> str:
    top = f"{arrays.stated_upper[m]:.12g}"
    if arrays.lower[m] == arrays.stated_upper[m]:
        return f"{names.attributes[m]} pinned to {top}"
    return f"{names.attributes[m]} epsilon_max {top}"


def _listed(items: Sequence[str]) -> str:
    rest = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _against(limits: Sequence[str]) -> str:
    return f", against {_listed(limits)}" if limits else ""


def _way_out(arrays: Arrays, found: Conflict, least: float | None, total: float | None) -> str:
    """Raise the total, or lower the floors to stated values."""
    raising = f"Raise total_epsilon to {least:g}" if least is not None and total is not None else ""
    if found.factor is None or found.factor <= 0:
        return f"{raising}." if raising else "Raise the bounds or groups named, or drop floors."
    lowered = lowered_floors(arrays, found)
    if found.lowered.size <= _SHOWN and np.array_equal(found.lowered, found.floors):
        which = "this floor" if found.lowered.size == 1 else "these floors"
        values = [f"{rounded_down(lowered[k]):g}" for k in found.lowered]
        text = f"lower {which} to {_and(values)}"
    else:
        text = f"lower all floors to {rounded_down(found.factor):g} of what they are"
    if raising:
        return f"{raising}, or keep {total:g} and {text}."
    return f"{text[0].upper()}{text[1:]}, or raise what stands against them."


def _and(values: Sequence[str]) -> str:
    if len(values) > 1 and len(set(values)) == 1:
        return f"{values[0]} each"
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
