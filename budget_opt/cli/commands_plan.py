"""Commands on what a release will be worth: plan, and the least total for what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

import budget_opt as bo
from budget_opt.cli.commands_problem import AllocationFile, AsJson, ProblemFile
from budget_opt.cli.output import out, out_json
from budget_opt.cli.replacing import require_replaceable, require_replaceable_table
from budget_opt.errors import InputError
from budget_opt.model.moments.by_moment import by_moment
from budget_opt.model.moments.moment import CrossMoment

HEADING = "attributes,label,n,retention,variance_inflation,"
"""How the table of a plan begins."""

Guess = Annotated[
    list[str] | None,
    typer.Option(
        metavar="G or a,b=G",
        help="What a moment may be: a number for all, or for one by its attributes; repeat for more.",
    ),
]
Target = Annotated[Literal["population", "data"], typer.Option(help="What wanted errors are measured from.")]
Units = Annotated[
    Literal["standardized", "scores"],
    typer.Option(help="Of guesses and errors: of a pair correlations, or the moments themselves."),
]


def plan(
    allocation: AllocationFile,
    n: Annotated[int, typer.Option("--n", help="How many records will be released.")],
    guess: Guess = None,
    error: Annotated[
        list[str] | None,
        typer.Option(metavar="E or a,b=E", help="Wanted standard errors, as --guess: gives the n for them."),
    ] = None,
    level: Annotated[float, typer.Option(help="0.95 for a two-sided test at 5 %.")] = 0.95,
    power: Annotated[float, typer.Option(help="Wanted power: gives the n for it.")] = 0.8,
    target: Target = "population",
    units: Units = "standardized",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.csv", help="Write the moments as a table.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say before any release what every moment will be worth: errors, effective n, power, rows needed."""
    if output is not None:
        require_replaceable_table(output, HEADING, "a plan")
    found = bo.Allocation.read(allocation)
    moments = [moment.stated for moment in found.moments]
    planned = bo.plan(
        found,
        n,
        numbers(moments, guess, "--guess"),
        level,
        wanted_error=numbers(moments, error, "--error"),
        wanted_power=power,
        target=target,
        units=units,
    )
    if output is not None:
        planned.write(output)
    if as_json:
        out_json(planned.to_dict())
        return
    out(planned.renderable())
    if output is not None:
        out(f"written: {output}")


def least_total(
    problem: ProblemFile,
    retention: Annotated[
        list[str] | None,
        typer.Option(metavar="R or a,b=R", help="Wanted retentions: a number for all, or by attributes."),
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option(metavar="E or a,b=E", help="Wanted standard errors at --n, in the same way."),
    ] = None,
    n: Annotated[int | None, typer.Option("--n", help="How many records will be released.")] = None,
    guess: Guess = None,
    target: Target = "population",
    units: Units = "standardized",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="ALLOCATION", help="Write the split here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the least total epsilon at which every moment is worth what is wanted, and prove it."""
    if output is not None:
        require_replaceable(output)
    if not retention and not error:
        raise InputError(
            "least-total: neither --retention nor --error is given. Say what moments must reach."
        )
    question = bo.Problem.read(problem)
    answer = bo.least_total(
        question,
        retention=numbers(question.moments, retention, "--retention"),
        standard_error=numbers(question.moments, error, "--error"),
        n=n,
        target=target,
        guess=numbers(question.moments, guess, "--guess"),
        units=units,
    )
    if output is not None:
        answer.allocation.write(output)
    if as_json:
        out_json(answer.to_dict())
        return
    out(answer.renderable())
    if output is not None:
        out(f"written: {output}")


def numbers(
    moments: Sequence[CrossMoment], texts: Sequence[str] | None, option: str
) -> dict[tuple[str, ...], float] | None:
    """0.1 and a,b=0.2 as numbers by attributes: the first for all moments, the second for the one named."""
    general: float | None = None
    named: dict[tuple[str, ...], float] = {}
    for text in texts or ():
        names, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise InputError(f"{option} {text}: must be a number, or like income,age=0.1.") from None
        key = tuple(name.strip() for name in names.split(","))
        if (names and key in named) or (not names and general is not None):
            whose = names or "all moments"
            raise InputError(f"{option} {text}: a number for {whose} is given already. Give one.")
        if names:
            named[key] = number
        else:
            general = number
    if not texts:
        return None
    pairs = zip(moments, by_moment(moments, named, option), strict=True)
    found = {moment.attributes: general if one is None else one for moment, one in pairs}
    return {attributes: number for attributes, number in found.items() if number is not None}
