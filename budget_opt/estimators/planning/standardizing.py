"""Guesses and wanted errors of moments, in one unit: the product of the standard deviations of the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from budget_opt.errors import Fault, InputError
from budget_opt.model.arguments import require_number
from budget_opt.model.declared import Declared
from budget_opt.model.moments.by_moment import by_moment, told_apart
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem

Units = Literal["standardized", "scores"]
"""Of a guess or an error: in products of standard deviations (of a pair: a correlation), or of the scores."""
SMALLEST_ERROR, LARGEST_ERROR = 1e-15, 1e9
"""Standardized: beyond, no sampler and no arithmetic follows, and nobody could notice."""
UNITS: tuple[Units, ...] = ("standardized", "scores")


def scale_of(declared: Sequence[Declared]) -> float | None:
    """sqrt(V), the product of the standard deviations; None where an attribute has no scores.

    Under the stated marginal, else the uniform one. None too where a double cannot carry it.
    """
    deviations = [_deviation(one) for one in declared]
    known = [deviation for deviation in deviations if deviation is not None]
    scale = math.prod(known)
    return scale if len(known) == len(deviations) and 0 < scale < math.inf else None


def scale_of_moment(moment: CrossMoment, problem: Problem) -> float | None:
    """The same for the attributes of a moment; None with a public column, whose spread no problem states."""
    names = problem.attributes_in(moment)
    if len(names) < len(moment.attributes):
        return None
    return scale_of([problem.attribute(name) for name in names])


def _deviation(declared: Declared) -> float | None:
    if declared.score_values is None:
        return None
    f = np.array(declared.score_values)
    believed = declared.believed_shares
    share = np.ones(f.size) if believed is None else np.array(believed)
    share = share / share.sum()
    centred = f - share @ f
    size = np.abs(centred).max()  # squares of scores may leave the doubles
    return float(size * np.sqrt(share @ (centred / size) ** 2))


def guesses(
    moments: Sequence[CrossMoment], scales: Sequence[float | None], given: Any, units: Units
) -> list[float | None]:
    """The standardized guess of every moment, None where there is none; `InputError` where it cannot be."""
    found = _standardized(moments, scales, given, units, "guess")
    for moment, name, guess in zip(moments, told_apart(moments), found, strict=True):
        if guess is not None and len(moment.attributes) == 2 and abs(guess) > 1:
            raise InputError(
                f"guess of {name}: is {guess:.6g} standardized, which is a correlation: must be from "
                f"-1 to 1. {_way_out(units)}"
            )
    return found


def errors(
    moments: Sequence[CrossMoment], scales: Sequence[float | None], given: Any, units: Units, what: str
) -> list[float | None]:
    """The standardized wanted error > 0 of every moment, None where none is wanted."""
    found = _standardized(moments, scales, given, units, what)
    for name, error in zip(told_apart(moments), found, strict=True):
        if error is not None and not SMALLEST_ERROR <= error <= LARGEST_ERROR:
            raise InputError(
                f"{what} of {name}: is {error:g} standardized, must be from {SMALLEST_ERROR:g} to "
                f"{LARGEST_ERROR:g} standard deviations, for instance 0.02."
            )
    return found


def require_units(units: object) -> None:
    """`InputError` unless it is one of both words."""
    if units not in UNITS:
        raise InputError(f'units: is {units!r}, must be "standardized" or "scores".')


def _standardized(
    moments: Sequence[CrossMoment], scales: Sequence[float | None], given: Any, units: Units, what: str
) -> list[float | None]:
    require_units(units)
    names = told_apart(moments)
    values = [
        None if value is None else number(value, f"{what} of {name}")
        for name, value in zip(names, by_moment(moments, given, what), strict=True)
    ]
    if units == "standardized":
        return values
    found: list[float | None] = []
    faults = []
    for name, value, scale in zip(names, values, scales, strict=True):
        if value is not None and scale is None:
            faults.append(
                Fault(
                    f"{what} of {name}",
                    value,
                    "is in units of scores, and an attribute has none",
                    'Give it standardized, or state "scores" in the problem.',
                )
            )
        found.append(None if value is None or scale is None else value / scale)
    if faults:
        raise InputError.from_faults(faults, what)
    return found


def number(value: object, where: str) -> float:
    """A finite double; `InputError` for anything else."""
    found = require_number(value, where)
    if not math.isfinite(found):
        raise InputError(f"{where}: is {found}, must be a finite number.")
    return found


def _way_out(units: Units) -> str:
    if units == "scores":
        return "Give a smaller one."
    return 'Give the correlation, or the moment itself with units="scores".'
