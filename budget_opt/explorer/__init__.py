"""Sliders for the total, the weights, the floors and n in a notebook; the best split follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.api.arguments import require, require_number, require_sums
from budget_opt.errors import InputError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.explorer.explorer import Explorer

SMALLEST_N, LARGEST_N = 100, 10**7


def explore(problem: Problem, n: int = 10_000) -> Explorer:
    """Sliders for the total, weights, floors and n; figure and table follow while they are dragged.

    The last line of a notebook's cell shows it. `explorer.problem` and `explorer.allocation` are what the
    sliders stand at, `explorer.prove()` solves it to the default gap; where it is impossible, both raise
    `InfeasibleError`, and `explorer.last_possible` is the split of the last place that was possible.
    Standard errors are those expected for `n` records, 100 to ten million. Raises `InputError` where
    ipywidgets is not installed (extra `notebooks`), and `InfeasibleError` where neither the problem nor its
    even split gives a first picture.
    """
    from budget_opt.explorer.explorer import Explorer

    require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    require_sums(problem, "explore")
    require_number(n, "n")
    if not SMALLEST_N <= n <= LARGEST_N:
        raise InputError(f"n: is {n!r}, must be a number of records from {SMALLEST_N} to {LARGEST_N:,}.")
    return Explorer(problem, int(n))
