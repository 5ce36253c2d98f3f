"""The command that asks a sampler as a black box: audit."""

from __future__ import annotations

from typing import Annotated

import typer

import budget_opt as bo
from budget_opt.api.auditing import noticeable_in_words
from budget_opt.cli.commands_problem import AllocationFile, AsJson
from budget_opt.cli.output import note, out, out_json


def audit(
    allocation: AllocationFile,
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND",
            help="A program and its arguments, run without a shell: CSV in, CSV out, on standard input and "
            "output, or in the files {input} and {output}.",
        ),
    ],
    trials: Annotated[int, typer.Option(help="Made-up records in large batches.")] = 200_000,
    calls: Annotated[int | None, typer.Option(help="Small batches beside them; 40 by default.")] = None,
    error: Annotated[float, typer.Option(help="Chance that a sound sampler has findings.")] = 1e-9,
    seed: Annotated[int | None, typer.Option(help="Makes the same choices again.")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for one run of the command.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Ask a sampler for reports of made-up records; exit code 1 where it loses more than is allowed."""
    found = bo.Allocation.read(allocation)
    note(noticeable_in_words(found, trials, error))
    options = bo.AuditOptions(error=error, calls=calls, seed=seed, time_limit=time_limit)
    made = bo.audit(command, found, trials, options)
    if as_json:
        out_json(made.to_dict())
    else:
        out(str(made))
    if not made.holds:
        raise typer.Exit(1)
