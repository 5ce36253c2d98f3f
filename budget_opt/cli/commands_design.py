"""The command design: which attributes to randomize together, with the best split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budget_opt import Problem
from budget_opt import design as design_problem
from budget_opt.cli.commands_problem import AsJson, ProblemFile
from budget_opt.cli.output import out, out_json
from budget_opt.cli.progress import solve_progress
from budget_opt.cli.replacing import require_replaceable
from budget_opt.errors import InputError
from budget_opt.model.arrays import Objective


def design(
    problem: ProblemFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PROBLEM", help="Write the problem with its clusters to a new file."
        ),
    ] = None,
    allocation: Annotated[
        Path | None, typer.Option(metavar="ALLOCATION", help="Write its solution here, as solve would.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write what proves the bound over all partitions; verify reads it."
        ),
    ] = None,
    max_cells: Annotated[
        int | None,
        typer.Option(help="Joint categories of a cluster at most; the problem's own limit or 64 by default."),
    ] = None,
    n: Annotated[
        float | None, typer.Option("--n", metavar="N", help="Number of records: says what they are worth.")
    ] = None,
    objective: Annotated[Objective | None, typer.Option(help="Another objective than the file's.")] = None,
    gap: Annotated[float, typer.Option(help="Relative gap that counts as optimal.")] = 1e-6,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best design so far counts, with its gap.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find which attributes to randomize together, with the best split, and prove how good that is.

    Candidate groupings of attributes are chosen as well. Exit code 3: no partition meets the floors.
    """
    if output is not None:
        _require_new(output)
    if allocation is not None:
        require_replaceable(allocation)
    _require_apart(problem, output, allocation, certificate)
    question = Problem.read(problem)
    if objective is not None:
        question = question.with_objective(objective)
    with solve_progress() as progress:
        found = design_problem(
            question,
            max_cells=max_cells,
            gap=gap,
            time_limit=time_limit,
            n=n,
            progress=progress,
            certificate=certificate,
        )
    if output is not None:
        from budget_opt.model.documents import write_document

        write_document(found.problem.to_dict(), output, new=True)
    if allocation is not None:
        found.allocation.write(allocation)
    if as_json:
        out_json(found.to_dict())
        return
    out(found.renderable())
    for written in (output, allocation, certificate):
        if written is not None:
            out(f"written: {written}")


def _require_new(output: Path) -> None:
    """Before a search that may take minutes: a problem is written by hand, and none is replaced."""
    if not output.parent.is_dir():
        raise InputError(f"--output: {output.parent} is not a folder. Make it first, or choose another.")
    if output.exists():
        raise InputError(f"-o {output}: exists. Choose another name: no problem is replaced.")


def _require_apart(*paths: Path | None) -> None:
    """Raise where two files of one command are the same."""
    given = [path.absolute() for path in paths if path is not None]
    twice = [path for path in dict.fromkeys(given) if given.count(path) > 1]
    if twice:
        raise InputError(f"{twice[0].name}: is named twice. Choose another name for one of the files.")
