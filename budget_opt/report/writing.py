"""The verb `bo.report`: a file is written whole or not at all, and never in the place of another thing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from budget_opt.errors import InputError

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation
    from budget_opt.model.problem import Problem

GENERATOR = '<meta name="generator" content="budget-opt report'
"""How a report says what it is, in its first lines."""
_FIRST = 2000
GUESS = 0.1
"""What analysts call a small correlation."""


def report(
    allocation: Allocation,
    path: str | Path,
    problem: Problem | None = None,
    n: int | None = None,
    *,
    certificate: str | Path | None = None,
    guess: float = GUESS,
) -> Path:
    """Write one HTML file about a split, for a curator, analysts and a data protection officer.

    The question, the split, what it guarantees in words, what every analysis will be worth, the comparison
    with the even split, all checks, figures, and sliders that move budget between attributes. The file needs
    nothing but a browser, no network either; it prints on A4, and works without scripts. No record is read
    for it: where all that the problem says is public, it may be passed on with the release. What it calls
    proved or optimal it has confirmed itself; what only the allocation states is told as that.

    `problem` is what the allocation was made from: a file read back does not carry the pins and bounds of
    attributes. `n` >= 1 is the expected number of records, for standard errors and for the power to find a
    relationship of the standardized size `guess` (of a pair: a correlation). `certificate` is the file that
    `solve` wrote with the allocation; its proof is evaluated again, which may take as long as the search. A
    `weighted_sum` is hardly ever confirmed to be optimal without one.
    An older report at `path` is replaced. Returns the path. Raises `InputError` where something else is
    there, or an argument is none.
    """
    from budget_opt.allocation import Allocation
    from budget_opt.api.arguments import require
    from budget_opt.model.documents import write_text
    from budget_opt.model.problem import Problem
    from budget_opt.report.content import content_of
    from budget_opt.report.page import page_of

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    if problem is not None:
        require(problem, Problem, "problem", "Read one from a file with Problem.read(path).")
    path = require_place(path)
    write_text(page_of(content_of(allocation, problem, n, certificate=certificate, guess=guess)), path)
    return path


def require_place(path: str | Path) -> Path:
    """The path of a report to be; raises `InputError` where something else is there, or no folder."""
    from budget_opt.api.arguments import require_path

    path = require_path(path, "path")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: is not a folder. Make it first, or choose another.")
    if path.exists() and not is_report(path):
        raise InputError(f"{path}: exists and is not a report of budget-opt. Choose another name.")
    return path


def is_report(path: Path) -> bool:
    """True where the file says in its first lines that it is such a report."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(_FIRST)
    except OSError:
        return False
