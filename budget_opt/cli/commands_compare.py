"""The command compare: splits of one budget side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer

from budget_opt import Allocation, Problem
from budget_opt.cli.output import out, out_json
from budget_opt.cli.replacing import require_replaceable_table
from budget_opt.errors import InputError

HEADING = "moment,weight,floor,ceiling,level,retention "
"""How the table of a comparison begins."""


def compare(
    splits: Annotated[
        list[Path],
        typer.Argument(
            metavar="ALLOCATION...",
            help='Allocations; with --problem also epsilons by name: {"income": 1.5, ...}.',
        ),
    ],
    problem: Annotated[
        Path | None,
        typer.Option(metavar="PROBLEM", help="Whose moments and objective count; else the first file's."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The split to measure by, named as its file."),
    ] = None,
    no_even: Annotated[
        bool, typer.Option("--no-even", help="Leave out the even split; the first one is measured by.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.csv", help="Write the moments as a table.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Put splits side by side: retention of every moment, objective, who gains and who loses."""
    from budget_opt.api.comparing.comparing import compare as compare_splits
    from budget_opt.api.splits import read_split

    if output is not None:
        require_replaceable_table(output, HEADING, "a comparison")
    asked = None if problem is None else Problem.read(problem)
    read: dict[str, Allocation | dict[str, Any]] = {
        name: read_split(path) for name, path in zip(names_of(splits), splits, strict=True)
    }
    by_hand = [
        str(path) for path, split in zip(splits, read.values(), strict=True) if isinstance(split, dict)
    ]
    if asked is None and by_hand:
        raise InputError(f"{by_hand[0]}: holds epsilons by name. Say of which problem: --problem PROBLEM.")
    comparison = compare_splits(read, asked, reference=reference, even=not no_even)
    if output is not None:
        comparison.write(output)
    if as_json:
        out_json(comparison.to_dict())
        return
    out(comparison.renderable())
    if output is not None:
        out(f"written: {output}")


def names_of(paths: Sequence[Path]) -> list[str]:
    """A name a file: that of the file, with its folder or a number where that is not enough."""
    files = [path.name for path in paths]
    names = [file if files.count(file) == 1 else str(path) for file, path in zip(files, paths, strict=True)]
    unique: list[str] = []
    for name in (name if name.isprintable() else ascii(name) for name in names):
        numbered = (f"{name} ({copy})" if copy > 1 else name for copy in count(1))
        unique.append(next(one for one in numbered if one not in unique))
    return unique
