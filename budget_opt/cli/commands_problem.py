"""Commands on problems and allocations: check, solve, judge, schema."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from budget_opt import Allocation, Problem, rounded
from budget_opt import solve as solve_problem
from budget_opt.allocation.show import renderable
from budget_opt.api.gridding import step_of
from budget_opt.cli.output import out, out_json
from budget_opt.cli.progress import solve_progress
from budget_opt.cli.replacing import require_replaceable
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError, VerificationError
from budget_opt.model.arrays import Objective

ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file, JSON or YAML.")]
AllocationFile = Annotated[Path, typer.Argument(metavar="ALLOCATION", help="An allocation file, JSON.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class Document(StrEnum):
    """The file formats that have a schema."""

    problem = "problem"
    allocation = "allocation"
    manifest = "manifest"
    certificate = "certificate"
    design_certificate = "design-certificate"


def check(
    problem: ProblemFile,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for explaining an impossible problem, 5 by default."),
    ] = None,
    expanded: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the problem with the moments of its rules, to a new file."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Say what is hard or impossible in a problem, and why; exit code 3 where it is infeasible.

    Moments that rules of the file stand for are listed, each with the reason.
    """
    from budget_opt.api.checking.checking import check_file
    from budget_opt.model.documents import write_document

    question, findings = check_file(problem, time_limit)
    if expanded is not None:
        write_document(question.to_dict(), expanded, new=True)
    if as_json:
        out_json(findings.to_dict())
    else:
        out(str(findings))
        if expanded is not None:
            out(f"written: {expanded}")
    if findings.open_question is not None:
        return NotSolvedError.exit_code
    return 0 if findings.feasible else InfeasibleError.exit_code


def solve(
    problem: ProblemFile,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="ALLOCATION", help="Write the allocation here.")
    ] = None,
    gap: Annotated[float, typer.Option(help="Relative gap that counts as optimal.")] = 1e-6,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds; then the best split so far counts. A weighted sum takes 60 a level by default."
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="Another method than the objective's default: cvxpy; for a weighted sum local search."
        ),
    ] = None,
    objective: Annotated[Objective | None, typer.Option(help="Another objective than the file's.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Another total epsilon than the file's.")] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all that proves the bound, for verify.")
    ] = None,
    level_tolerance: Annotated[
        float, typer.Option(help="Relative gap that a level of moments may lose to the levels after it.")
    ] = 1e-3,
    step: Annotated[
        float | None, typer.Option(help="Give the best split whose epsilons are multiples of this: 0.05.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the best split of the budget and prove how good it is."""
    if step is not None and certificate is not None:
        raise InputError("--step: a certificate proves the split off the grid. Leave one of the two out.")
    if step is not None:
        # before the solve, which may take a minute
        step_of(step)
    if output is not None:
        require_replaceable(output)
        if certificate is not None and output.absolute() == certificate.absolute():
            raise InputError(f"--certificate: {certificate} is the allocation's file. Choose another name.")
    question = Problem.read(problem)
    if objective is not None or epsilon is not None:
        changes = {"objective": objective, "total_epsilon": epsilon}
        question = question.with_fields(
            **{name: value for name, value in changes.items() if value is not None}
        )
    with solve_progress() as progress:
        allocation = solve_problem(
            question,
            gap=gap,
            time_limit=time_limit,
            progress=progress,
            solver=solver,
            certificate=certificate,
            level_tolerance=level_tolerance,
        )
    allocation, notes = _on_grid(allocation, step, question)
    if output is not None:
        allocation.write(output)
    if as_json:
        out_json(allocation.to_dict())
    else:
        out(renderable(allocation))
        for note in (*notes, *(f"written: {path}" for path in (output, certificate) if path is not None)):
            out(note)


def _on_grid(
    allocation: Allocation, step: float | None, problem: Problem
) -> tuple[Allocation, tuple[str, ...]]:
    """The best split of multiples of the step, where one is asked for, and what it costs."""
    if step is None:
        return allocation, ()
    found = rounded(allocation, step, problem)
    return found.allocation, (found.sentence,)


def judge(
    problem: ProblemFile,
    split: Annotated[
        Path,
        typer.Argument(metavar="SPLIT", help='An allocation, or epsilons by name: {"income": 1.5, ...}.'),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="ALLOCATION", help="Write it as an allocation.")
    ] = None,
    gap: Annotated[float, typer.Option(help="Relative gap to which the bound is proved.")] = 1e-6,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for the bound; 60 by default for a weighted sum.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A bound without a solve; it may be loose.")] = False,
    as_json: AsJson = False,
) -> int:
    """Say what a split is worth, what is possible, and what it breaks (then exit code 1)."""
    from budget_opt.api.judging import judge as judge_split
    from budget_opt.api.splits import read_split

    if output is not None:
        require_replaceable(output)
    question = Problem.read(problem)
    with solve_progress() as progress:
        judged = judge_split(
            question, read_split(split), gap=gap, time_limit=time_limit, quick=quick, progress=progress
        )
    if output is not None:
        judged.allocation.write(output)
    if as_json:
        out_json(judged.to_dict())
    else:
        out(renderable(judged.allocation))
        out(str(judged))
        if output is not None:
            out(f"written: {output}")
    return 0 if judged.keeps_all else VerificationError.exit_code


def schema(
    document: Annotated[Document, typer.Argument(help="Which file format.")],
) -> None:
    """Print the JSON Schema of a file format."""
    from budget_opt.api.schemas import schema_of

    out_json(schema_of(document.value))
