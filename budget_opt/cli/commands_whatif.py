"""The command whatif: the best splits as one number of a problem is varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from budget_opt import Frontier, Problem
from budget_opt import frontier as solve_frontier
from budget_opt.api.wording import listed
from budget_opt.cli import INTERRUPTED
from budget_opt.cli.commands_problem import AsJson, ProblemFile
from budget_opt.cli.output import note, out, out_json
from budget_opt.cli.progress import points_progress
from budget_opt.cli.ranges import values_of
from budget_opt.cli.replacing import require_replaceable_table
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError

HEADING = ",status,value,bound,relative_gap,spent_epsilon,loss,"
"""How the table of a frontier goes on after the name of its first column."""
FIGURES = (".svg", ".png", ".pdf")
_AXES = ("epsilon", "weight", "floor")
_VALUES = "from:to:how many, or a list such as 1,2,5"

Asked = Mapping[str, Sequence[float] | None]


def whatif(
    problem: ProblemFile,
    epsilon: Annotated[str | None, typer.Option(metavar="VALUES", help=f"Totals in nats: {_VALUES}.")] = None,
    moment: Annotated[
        str | None, typer.Option(metavar="A,B", help="The moment whose weight or floor is varied.")
    ] = None,
    weight: Annotated[str | None, typer.Option(metavar="VALUES", help="Weights of the moment.")] = None,
    floor: Annotated[
        str | None, typer.Option(metavar="VALUES", help="Floors of the moment's retention; 0 for none.")
    ] = None,
    n: Annotated[
        str | None,
        typer.Option(
            "--n", metavar="VALUES", help="Numbers of records; one beside another axis adds its errors."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.csv", help="Write the points as a table.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw what is kept: .svg, .png or .pdf.")
    ] = None,
    gap: Annotated[float, typer.Option(help="Relative gap that counts as optimal.")] = 1e-3,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for all points together; a weighted sum has 60 a point by default."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Solve a problem at many totals, weights, floors or numbers of records, and say what changes.

    Ctrl-C keeps the points that are done: they are written and printed, and the exit code is 130. Exit code
    4: the time limit ended it early, with what is done kept; 3: no point is possible.
    """
    given = {"epsilon": epsilon, "weight": weight, "floor": floor, "n": n}
    asked = {name: None if text is None else values_of(text, f"--{name}") for name, text in given.items()}
    _require_axis(asked, moment)
    _require_places(output, figure, asked)
    question = Problem.read(problem)
    with points_progress() as progress:
        found = solve_frontier(
            question,
            asked["epsilon"],
            moment=None if moment is None else [name.strip() for name in moment.split(",")],
            weight=asked["weight"],
            floor=asked["floor"],
            n=_records(asked),
            gap=gap,
            time_limit=time_limit,
            progress=progress,
        )
    _write(found, output, figure)
    if as_json:
        out_json(found.to_dict())
    else:
        out(found.renderable())
        for written in (output, figure):
            if written is not None and written.exists():
                out(f"written: {written}")
    return _code(found)


def _require_axis(asked: Asked, moment: str | None) -> None:
    """One option is varied, said in options; whatever else is wrong is for `frontier` to say."""
    given = [name for name in _AXES if asked[name] is not None]
    if not given and asked["n"] is None:
        raise InputError(
            "whatif: one of --epsilon, --weight, --floor and --n is varied, and none of them was given. "
            "Give one, such as --epsilon 1:10:19."
        )
    records = asked["n"] or ()
    varied = [*given, *(["n"] if given and len(records) > 1 else [])]
    if len(varied) > 1:
        named = listed([f"--{name}" for name in varied])
        raise InputError(
            f"whatif: one of --epsilon, --weight, --floor and --n is varied, and {named} were given. "
            "Leave all but one out; a single number of records may stand beside another option."
        )
    if moment is None and given and given[0] != "epsilon":
        raise InputError(
            f"--moment: is missing, must name the attributes of the moment whose {given[0]} is varied, such "
            "as --moment smoker,income."
        )


def _records(asked: Asked) -> float | Sequence[float] | None:
    """A single n beside another axis is not varied."""
    records = asked["n"]
    beside = any(asked[name] is not None for name in _AXES)
    return records[0] if records is not None and len(records) == 1 and beside else records


def _require_places(output: Path | None, figure: Path | None, asked: Asked) -> None:
    if output is not None:
        varied = next((name for name in (*_AXES, "n") if asked[name] is not None), "epsilon")
        column = "total_epsilon" if varied == "epsilon" else varied
        require_replaceable_table(output, f"{column}{HEADING}", f"a frontier over {column}")
    if figure is None:
        return
    if figure.suffix.lower() not in FIGURES:
        raise InputError(f"--figure {figure}: must end in {', '.join(FIGURES)}. Choose one of them.")
    if not figure.parent.is_dir():
        raise InputError(f"--figure: {figure.parent} is not a folder. Make it first, or choose another.")


def _write(found: Frontier, output: Path | None, figure: Path | None) -> None:
    """The table and the figure, with the points that there are."""
    if output is not None and found.points:
        found.write(output)
    if figure is None:
        return
    if any(point.allocation is not None for point in found.points):
        from budget_opt.plots import save_figure

        save_figure(figure, lambda ax: found.plot(ax=ax))
    else:
        note(f"--figure {figure}: not drawn, as no point has a split")


def _code(found: Frontier) -> int:
    if found.interrupted:
        note(f"interrupted: {len(found.points)} points are kept, each with the gap that is proved of it")
        return INTERRUPTED
    if not found.complete:
        note("the time limit ended it early; each point has the gap that is proved of it")
        return NotSolvedError.exit_code
    if all(isinstance(point.why, InfeasibleError) for point in found.points):
        return InfeasibleError.exit_code
    return 0
