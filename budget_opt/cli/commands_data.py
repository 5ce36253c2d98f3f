"""Commands on data: randomize, verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import budget_opt as bo
from budget_opt.api.charging.charging import Payer
from budget_opt.api.releasing.publishing import Place, publish, require_released_under, require_row_order
from budget_opt.api.releasing.resuming import Request, abandon_release, publish_resumable
from budget_opt.cli.commands_problem import AllocationFile, AsJson
from budget_opt.cli.output import note, out, out_json
from budget_opt.cli.progress import rows_progress
from budget_opt.errors import InputError
from budget_opt.model.provenance import release_warning

if TYPE_CHECKING:
    from budget_opt.verifier.report import VerificationReport

IN_NO_LEDGER = (
    "note: no ledger was charged, so that nothing keeps the budget of these people from being spent again; "
    "begin one with: budget-opt ledger init, and then give --dataset"
)
"""What a release is told that nobody counts."""

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="The original table: .csv, .csv.gz, .parquet, or a folder of .parquet files."
    ),
]


def randomize(
    allocation: AllocationFile,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="RELEASED",
            help="The released table; must not exist. A name without an ending: a folder of .parquet files.",
        ),
    ],
    internal: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Verify while the originals are at hand; the report stays here."),
    ] = None,
    row_order: Annotated[
        Literal["shuffle", "public"] | None,
        typer.Option(
            help="shuffle, or public: keep the order of DATA, where that reveals nothing; a later verify "
            "--original needs it. Default: as the problem says, else shuffle."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Make a release that can be stopped at any moment, or go on with one: after a kill, a full "
            "disk or Ctrl-C the same command ends with the same bytes. Until then DATA must not be touched "
            "(it is known by path, size and time of change), and the key is kept in your own state "
            "directory (BUDGET_OPT_STATE_DIR names another); then the key is deleted.",
        ),
    ] = False,
    abandon: Annotated[
        bool,
        typer.Option(
            "--abandon", help="Delete the key and the waiting rows of an unfinished RELEASED, and do no more."
        ),
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The data set that pays, as it is registered in a ledger (budget-opt ledger): refused where "
            "not enough is left, and charged before the first word is drawn.",
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The ledger with --dataset. Default: the one in your state directory."
        ),
    ] = None,
    ahead: Annotated[
        bool, typer.Option("--ahead", help="Let it take from the planned waves that are still to come.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Randomize a table; writes it with its manifest, and the allocation, into the output's folder."""
    if abandon:
        _abandon(output, resume=resume)
        return
    place, found = Place(output, internal), bo.Allocation.read(allocation)
    if (said := release_warning(found.question)) is not None:
        note(f"warning: {said}")
    payer = payer_of(dataset, ledger, ahead=ahead)
    with rows_progress() as progress:
        if resume:
            published = publish_resumable(Request(found, data, place, note, row_order, progress, payer))
        else:
            published = publish(
                allocation, data, place, row_order=row_order, progress=progress, charge_to=payer
            )
    if payer is None and not published.before:
        note(IN_NO_LEDGER)
    if not published.release.rows:
        note("note: the table has no rows")
    if data.resolve().parent == output.resolve().parent:
        note(f"note: the original {data} lies in the folder of the release; move it before you pass that on")
    if as_json:
        out_json(published.manifest)
    else:
        out(str(published))


def payer_of(dataset: str | None, ledger: Path | None, *, ahead: bool) -> Payer | None:
    """Who pays, by the options of a command; None without --dataset."""
    if dataset is None:
        if ledger is not None or ahead:
            raise InputError("--ledger, --ahead: need the data set that pays. Give its name with --dataset.")
        return None
    return Payer(dataset, None if ledger is None else bo.Ledger.open(ledger), ahead=ahead, tell=note)


def _abandon(output: Path, *, resume: bool) -> None:
    if resume:
        raise InputError("--resume and --abandon: go on with the release, or give it up? Give one of them.")
    out(abandon_release(output))


def verify(
    allocation: AllocationFile,
    problem: Annotated[Path | None, typer.Option(metavar="P", help="The problem it was made from.")] = None,
    original: Annotated[Path | None, typer.Option(metavar="DATA", help="The original table.")] = None,
    released: Annotated[
        Path | None,
        typer.Option(
            metavar="RELEASED",
            help="The release: with --original in its row order, alone for what can be said without it.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What solve wrote to prove the bound.")
    ] = None,
    subset: Annotated[
        list[str] | None,
        typer.Option(metavar="a,b", help="Attributes whose composed loss is asked for; repeat for more."),
    ] = None,
    gap: Annotated[
        float,
        typer.Option(metavar="G", help="The relative gap that counts as optimal, whatever the file says."),
    ] = 1e-6,
    details: Annotated[
        bool, typer.Option("--details", help="A line for every check, also where many of a kind hold.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check what an allocation, its certificate and a release promise; exit code 1 where something fails."""
    if original is not None and released is None:
        raise InputError("--original: is given without --released. Give the released table too.")
    found = bo.Allocation.read(allocation)
    asked = None if problem is None else bo.Problem.read(problem)
    subsets = [[name.strip() for name in names.split(",")] for names in subset or []]
    reports = [bo.verify(found, problem=asked, certificate=certificate, gap=gap, subsets=subsets)]
    if released is not None:
        require_released_under(released, found, str(allocation))
        if original is not None:
            require_row_order(released)
        reports.append(bo.verify_release(found, original=original, released=released))
    if as_json:
        out_json([report.to_dict() for report in reports])
    else:
        out("\n\n".join(_in_words(reports, details=details)))
    if not all(report.holds for report in reports):
        raise typer.Exit(1)


def _in_words(reports: Sequence[VerificationReport], *, details: bool) -> Iterator[str]:
    """A verdict over all where there are several, then each report: what fails first, the release before."""
    failing = [report for report in reports if not report.holds]
    if len(reports) > 1:
        which = f"{len(failing)} FAILS" if len(failing) == 1 else f"{len(failing)} FAIL"
        named = "; ".join(report.subject for report in reversed(failing))
        yield f"{len(reports)} reports: {f'{which}: {named}' if failing else 'all checks hold'}"
    for report in (*reversed(failing), *(one for one in reports if one.holds)):
        yield report.in_full if details else report.summary
