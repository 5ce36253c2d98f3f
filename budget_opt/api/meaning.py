"""`bo.meaning`: what an allocation means for the people in the table, in figures and in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from budget_opt.accounting.joint import MOST_CELLS, Whole, whole_numbers
from budget_opt.accounting.meaning import Meaning, meaning_of
from budget_opt.allocation.allocation import Allocation
from budget_opt.api.arguments import require, require_number
from budget_opt.errors import InputError
from budget_opt.model.arguments import as_list
from budget_opt.tables.source import listed


def meaning(
    allocation: Allocation,
    priors: Mapping[str, Sequence[float]] | None = None,
    joint: Mapping[tuple[str, ...], Any] | None = None,
) -> Meaning:
    """What the release gives away: each column seen alone, the whole record, persons and waves.

    `priors` say what an attacker believes of an attribute before the release: shares of its categories in
    their order, the missing category last, in any unit; without one it is the attribute's marginal, else
    uniform. `joint` are public joint distributions: by the names of some attributes an array of counts or
    shares with one axis each, {("marital", "sex"): counts}, of at most 131,072 cells. Under each of them it
    is said exactly what the reports of all its attributes do to the odds of one of them. A column of a
    cluster, seen alone, is told by its own matrix, and beside it what a change of it costs: all of the
    cluster's loss. All figures come from the sampler's integers and are rounded up.

    Raises `InputError` for a name, a number or a shape that does not fit the allocation.
    """
    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    for argument, name in ((priors, "priors"), (joint, "joint")):
        if argument is not None:
            require(argument, Mapping, name, "Give it by the names of attributes.")
    stated = {name: _shares(allocation, name, shares) for name, shares in (priors or {}).items()}
    tables = {_names(allocation, names): table for names, table in (joint or {}).items()}
    return meaning_of(
        allocation, stated, {names: _counts(allocation, names, table) for names, table in tables.items()}
    )


def _shares(allocation: Allocation, name: str, shares: Any) -> list[float]:
    _require_known(allocation, (name,), "priors")
    where, size = f"priors: of {name!r}", allocation[name].cardinality
    items = as_list(shares)
    if items is None or len(items) != size:
        count = "no list" if items is None else f"a list of {len(items)}"
        raise InputError(f"{where} is {count}, must be {size} shares, one a category.")
    numbers = [require_number(item, where) for item in items]
    if not all(math.isfinite(number) and number >= 0 for number in numbers) or not any(numbers):
        raise InputError(f"{where} must be numbers >= 0, not all of them 0. Correct the shares.")
    return numbers


def _names(allocation: Allocation, names: Any) -> tuple[str, ...]:
    members = as_list(names)
    if members is None or len(members) < 2 or len(set(map(str, members))) < len(members):
        raise InputError(
            f"joint: is about {names!r}, must be about at least two distinct attributes. "
            'Give a table by its names: {("income", "sex"): counts}.'
        )
    _require_known(allocation, members, "joint")
    return tuple(members)


def _counts(allocation: Allocation, names: tuple[str, ...], table: Any) -> Whole:
    """The table in whole numbers."""
    where, shape = f"joint: of {names}", tuple(allocation[name].cardinality for name in names)
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise InputError(
            f"{where} has {cells:,} cells, must have at most {MOST_CELLS:,}. Leave an attribute out."
        )
    try:
        found = np.asarray(table)
    except ValueError:  # lists of different lengths
        found = np.empty(0)
    if found.shape != shape:
        raise InputError(
            f"{where} has the shape {found.shape or 'of a single number'}, must have {shape}: one axis an "
            "attribute, one cell a combination of categories in their order, a missing category last."
        )
    if found.dtype.kind not in "iuf":
        found = np.array([require_number(cell, where) for cell in found.ravel().tolist()]).reshape(shape)
    if not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        raise InputError(f"{where} must be finite numbers >= 0, not all of them 0. Correct the table.")
    return whole_numbers(found)


def _require_known(allocation: Allocation, names: Sequence[str], where: str) -> None:
    known = [attribute.name for attribute in allocation.attributes]
    for name in names:
        if name not in known:
            raise InputError(f"{where}: {name!r} is not an attribute; there are {listed(known)}.")
