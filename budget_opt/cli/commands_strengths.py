"""Weights from the data: strengths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import budget_opt as bo
from budget_opt.api.wording import listed
from budget_opt.cli.commands_data import Data, payer_of
from budget_opt.cli.commands_problem import AsJson, ProblemFile
from budget_opt.cli.output import note, out, out_json
from budget_opt.errors import InputError
from budget_opt.estimators.strengths.result import unmeasured
from budget_opt.tables.whole_files import require_free

NOT_CHARGED = (
    "note: no ledger was charged for this pilot, which these people have paid for; begin one with: "
    "budget-opt ledger init, and then give --dataset"
)


def strengths(
    problem: ProblemFile,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="WEIGHTED", help="The problem with its new weights; a new file."
        ),
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(help="Measure privately: what every record pays for it, in nats, besides the release."),
    ] = None,
    observed: Annotated[
        bool,
        typer.Option(
            "--observed",
            help="Take the strengths of the data themselves: the allocation is then outside the guarantee.",
        ),
    ] = False,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The data set of a ledger that pays epsilon.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The ledger; by default the one of your own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Weigh moments by how strong their links are in the data (measured privately, or as they are)."""
    if (epsilon is None) == (not observed):
        raise InputError(
            "--epsilon, --observed: give one of them. --epsilon E measures privately and costs every record "
            "E; --observed costs the guarantee."
        )
    if output.exists():
        raise InputError(f"-o {output}: exists already, and is not overwritten. Choose another name.")
    require_free(output, overwrite=False)
    asked = bo.Problem.read(problem)
    pays = payer_of(dataset, ledger, ahead=False)
    if epsilon is None:
        if pays is not None:
            raise InputError("--dataset: a ledger counts epsilons, and --observed has none. Leave it out.")
        found = bo.observed_strengths(data, asked)
    else:
        found = bo.pilot_strengths(data, asked, epsilon=epsilon, charge_to=pays)
        if pays is None:
            note(NOT_CHARGED)
    document = found.to_dict()
    try:
        if not as_json:
            out(str(found))
        weighted = found.apply(asked)
        document["problem"] = weighted.to_dict()
        weighted.write(output)
    finally:
        if as_json:
            out_json(document)  # paid for, even where it gives no weights or they cannot be written
    if not as_json:
        if kept := unmeasured(asked):
            out(f"with a public column, not measured, and with the weight that it has: {listed(kept, 9)}")
        out(f"written: {output}, its weights being {weighted.provenance.weights}")
