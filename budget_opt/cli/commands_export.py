"""The command that hands a split to another anonymizer: export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budget_opt import Allocation
from budget_opt import export as export_allocation
from budget_opt.api.exports.exporting import To
from budget_opt.cli.commands_problem import AllocationFile, AsJson
from budget_opt.cli.output import out, out_json


def export(
    allocation: AllocationFile,
    to: Annotated[
        To, typer.Option(help="OpenDP mechanisms (.json), R's sdcMicro (.R), or plain .npz or .csv.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="A new file.")],
    as_json: AsJson = False,
) -> None:
    """Write the matrices of a split for another anonymizer; check what that releases with verify."""
    written = export_allocation(Allocation.read(allocation), to, output)
    if as_json:
        out_json(written.to_dict())
    else:
        out(str(written))
