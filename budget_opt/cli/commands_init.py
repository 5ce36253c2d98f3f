"""A first problem file from a codebook: init."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budget_opt.cli.output import out, out_json


def init(
    codebook: Annotated[
        Path,
        typer.Argument(
            metavar="CODEBOOK",
            help="SPSS (.sav, .zsav, .por) or Stata (.dta), of which only labels are read; Frictionless or "
            "CSVW metadata (.json, .yaml).",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PROBLEM", help="Write the problem to this new file.")
    ],
    epsilon: Annotated[float, typer.Option(help="Total epsilon of one record in nats, to be decided.")] = 1.0,
    labels: Annotated[
        bool,
        typer.Option("--labels/--codes", help="What the cells of the table hold where there are both."),
    ] = False,
    table: Annotated[
        str | None, typer.Option(help="Which table, where the codebook describes several.")
    ] = None,
    drop_others: Annotated[
        bool, typer.Option("--drop-others", help="Drop the columns without a declared domain.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Write a problem file from a codebook, to be filled in; no value of the table is read."""
    from budget_opt.codebooks.reading import read_codebook
    from budget_opt.codebooks.starting import starting_document
    from budget_opt.model.documents import write_document

    found = read_codebook(codebook, released="labels" if labels else "codes", table=table)
    document = starting_document(found, epsilon, name=codebook.stem, drop_others=drop_others)
    write_document(document, output, new=True)
    if as_json:
        out_json(found.to_dict())
        return
    out(found.renderable())
    if found.others and drop_others:
        out(f"{len(found.others)} columns are dropped, as --drop-others says.")
    out(f"written: {output}")
    out(
        f"yours to state: the total (now {epsilon:g}), which moments matter (now all pairs alike), provenance"
    )
    out(f"next: budget-opt check {output}")
