"""The command show: an allocation as tables, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import budget_opt as bo
from budget_opt.allocation.show import renderable
from budget_opt.cli.commands_problem import AllocationFile, AsJson
from budget_opt.cli.output import out, out_json
from budget_opt.errors import InputError

if TYPE_CHECKING:
    from budget_opt.accounting.meaning import Meaning


def show(
    allocation: AllocationFile,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=P,P,...",
            help="What an attacker believes of an attribute: a share a category; repeat for more.",
        ),
    ] = None,
    joint: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A public joint distribution, .csv or .parquet: a row a combination, a column for each of "
            'two or more attributes with their labels (bins as "[18, 30)", a missing category empty), and '
            "one further column, of any name, with counts or shares; repeat for more.",
        ),
    ] = None,
    meaning: Annotated[
        bool, typer.Option("--meaning", help="What it means alone, also with --json.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say where the budget goes, and what each limit costs.")
    ] = False,
    problem: Annotated[
        Path | None,
        typer.Option(metavar="PROBLEM", help="For --explain: what it was made from, with pins and bounds."),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for --explain.")] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Print an allocation as tables, and what it means for the people in the table.

    With --explain also why it is as it is. With --json the allocation itself, or what --meaning or --explain
    asks for alone.
    """
    if meaning and explain:
        raise InputError("--meaning: is asked for alone, and --explain too. Leave one of the two out.")
    found = bo.Allocation.read(allocation)
    if explain:
        _explain(found, problem, time_limit, as_json=as_json)
    elif as_json and not meaning:
        out_json(found.to_dict())
    elif as_json:
        out_json(_meaning(found, prior, joint).to_dict())
    else:
        # before anything is printed: it may refuse a prior or a joint
        means = _meaning(found, prior, joint)
        if not meaning:
            out(renderable(found))
            out("")
        out(means.renderable())


def _meaning(found: bo.Allocation, prior: Sequence[str] | None, joint: Sequence[Path] | None) -> Meaning:
    from budget_opt.api.joint_files import read_joint

    joints: dict[tuple[str, ...], Any] = {}
    for path in joint or ():
        joints |= read_joint(path, found)
    return bo.meaning(found, dict(map(_prior, prior or ())), joints)


def _prior(text: str) -> tuple[str, list[float]]:
    """income=0.5,0.3,0.2 as a name and shares."""
    name, equals, shares = text.rpartition("=")
    try:
        if equals:
            return name, [float(share) for share in shares.split(",")]
    except ValueError:
        pass
    raise InputError(f"--prior: is {text!r}, must be a name and a share a category: income=0.5,0.3,0.2")


def _explain(found: bo.Allocation, problem: Path | None, time_limit: float, *, as_json: bool) -> None:
    explained = bo.explain(
        found, None if problem is None else bo.Problem.read(problem), time_limit=time_limit
    )
    if as_json:
        out_json(explained.to_dict())
    else:
        out(renderable(found))
        out(explained.renderable())
