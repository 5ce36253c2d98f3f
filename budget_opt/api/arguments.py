"""Arguments of the public functions, checked on entry: a wrong order or a path in place of an object."""

from __future__ import annotations

from budget_opt.errors import InputError
from budget_opt.model.arguments import as_list, require, require_number, require_path
from budget_opt.model.problem import Problem

__all__ = [
    "as_list",
    "require",
    "require_gap",
    "require_listener",
    "require_names",
    "require_number",
    "require_path",
    "require_split_of_sums",
    "require_sums",
]

SMALLEST_GAP, LARGEST_GAP = 1e-12, 1.0


def require_gap(gap: object) -> float:
    """The relative gap that counts as optimal; raises `InputError` outside 1e-12 to 1."""
    number = require_number(gap, "gap")
    if not SMALLEST_GAP <= number <= LARGEST_GAP:
        raise InputError(f"gap: is {number!r}, must be from {SMALLEST_GAP:g} to {LARGEST_GAP:g}.")
    return number


def require_listener(progress: object, hears: str = "a Report") -> None:
    """Raise `InputError` unless `progress` can be called, or is None."""
    if progress is not None and not callable(progress):
        raise InputError(
            f"progress: is a {type(progress).__name__}, must be a function that takes {hears}, or None."
        )


def require_sums(problem: Problem, verb: str) -> None:
    """Raise `InputError` for a problem with a `total_delta`, by name: `verb` adds epsilons up."""
    if problem.total_delta > 0:
        raise InputError(
            f"total_delta: is {problem.total_delta!r}, and {verb} deals with sums of epsilons alone. Leave "
            "total_delta out: a split whose sum keeps the total keeps it with every delta."
        )


def require_split_of_sums(asked: Problem, verb: str, way_out: str) -> None:
    """Raise `InputError` for a split that was made with a `total_delta`, with what tells about that one."""
    if asked.total_delta > 0:
        raise InputError(
            f"total_delta: is {asked.total_delta!r} in this allocation, and {verb} deals with sums of "
            f"epsilons alone. {way_out}"
        )


def require_names(names: tuple[object, ...]) -> None:
    """Raise `InputError` unless all are text: attributes are named one by one."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"attributes: holds a {type(name).__name__}, must be names. "
                'Give them one by one: moment(released, allocation, "smoker", "income").'
            )
