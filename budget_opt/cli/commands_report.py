"""The command on a split that writes for people: report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budget_opt import Allocation, Problem
from budget_opt.cli.commands_problem import AllocationFile, AsJson
from budget_opt.cli.output import out, out_json


def report(
    allocation: AllocationFile,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="HTML", help="Write the report here.")],
    problem: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The problem it was made from: pins and bounds are shown and checked."
        ),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", help="Expected number of records: standard errors and power.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What solve --certificate wrote; it is evaluated again."),
    ] = None,
    guess: Annotated[
        float, typer.Option(help="Size of a relationship that power is asked for; of a pair, a correlation.")
    ] = 0.1,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file about a split: what it guarantees, what it is worth, sliders to try others."""
    from budget_opt.report import report as write_report
    from budget_opt.report.writing import require_place

    require_place(output)
    question = None if problem is None else Problem.read(problem)
    written = write_report(
        Allocation.read(allocation), output, question, n, certificate=certificate, guess=guess
    )
    if as_json:
        out_json({"written": str(written), "bytes": written.stat().st_size})
    else:
        out(f"written: {written}")
