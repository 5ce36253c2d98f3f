"""Commands on the ledger: what was spent on which data set, and what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budget_opt import Caps, Ledger
from budget_opt.api.charging.recording import record_release
from budget_opt.cli.commands_problem import AsJson
from budget_opt.cli.ledger_options import changed_caps, new_caps
from budget_opt.cli.output import note, out, out_json
from budget_opt.errors import LedgerError, VerificationError
from budget_opt.ledger.cap_changes import never_binding
from budget_opt.ledger.storage import storage_note
from budget_opt.ledger.witness import known_at

ledger_app = typer.Typer(
    help="What was spent on which data set, and what is left.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="The ledger; by default the one in your own state directory."),
]
Chosen = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="FILE", help="The ledger; by default the one in your state directory."),
]
Dataset = Annotated[str, typer.Argument(metavar="NAME", help="The data set's name in the ledger.")]
Attributes = Annotated[
    list[str] | None,
    typer.Option("--attribute", metavar="a=E", help="Cap of one attribute; repeat for more."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar='"name=a,b:E"', help="Cap of some attributes together; repeat for more."),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows",
        metavar="K",
        help="The most rows that one person has, 1 by default; each of them costs. It is not checked.",
    ),
]
Waves = Annotated[
    int | None,
    typer.Option(
        metavar="W",
        help="Planned releases: with the k-th at most k/W of each cap may be spent, unless --ahead is given.",
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(metavar="D", help="Cap of the sum of deltas; by default 0, which refuses any."),
]
Why = Annotated[str, typer.Option(metavar="TEXT", help="The reason, which stays on record.")]


@ledger_app.command("init")
def init(file: File = None) -> None:
    """Begin a ledger in a new file.

    Only you can read it. Keep backups, and pass it to nobody: it holds the key of its hashes.
    """
    before = known_at(_path(file))
    ledger = Ledger.create(_path(file))
    out(f"begun: {ledger.path}")
    if (warning := storage_note(ledger.path)) is not None:
        note(f"note: {warning}")
    if before is not None:
        note(
            f"note: a ledger with {before.events:,} events was at this place before, and this one does not "
            "know what was spent with it: restore that one, or record its releases here (budget-opt ledger "
            "record)"
        )
    option = "" if file is None else f" --ledger {file}"
    out(f"next: budget-opt ledger add NAME --total E{option}")


@ledger_app.command("add")
def add(
    dataset: Dataset,
    total: Annotated[
        float,
        typer.Option(metavar="E", help="Epsilon in nats that may be spent on one person, in all releases."),
    ],
    attribute: Attributes = None,
    group: Groups = None,
    max_rows: MaxRows = None,
    waves: Waves = None,
    delta: Delta = None,
    ledger: Chosen = None,
    as_json: AsJson = False,
) -> None:
    """Register a data set with its caps.

    One name stands for the same people, whatever file or table they are in. --total is for one person: where
    people have several rows, say with --max-rows how many at most; nobody checks it.
    """
    others = {"max_rows": max_rows, "waves": waves, "delta": delta}
    found = Ledger.open(_path(ledger))
    caps = new_caps(total, attribute or [], group or [], others)
    found.register(dataset, caps)
    _note_never_binding(caps)
    _show(found, [dataset], as_json=as_json)


@ledger_app.command("change")
def change(
    dataset: Dataset,
    why: Why,
    total: Annotated[float | None, typer.Option(metavar="E", help="The new cap of the total.")] = None,
    attribute: Attributes = None,
    group: Groups = None,
    max_rows: MaxRows = None,
    waves: Waves = None,
    delta: Delta = None,
    ledger: Chosen = None,
    as_json: AsJson = False,
) -> None:
    """Change the caps of a data set.

    What is not given stays; a=none takes a cap away. Every change stays on record with its reason.
    """
    found = Ledger.open(_path(ledger))
    others = {"total": total, "max_rows": max_rows, "waves": waves, "delta": delta}
    caps: Caps = changed_caps(found.caps(dataset), attribute or [], group or [], others)
    for loosened in found.change(dataset, caps, why):
        note(f"note: this allows more to be spent on the same people: {loosened}")
    _note_never_binding(caps)
    _show(found, [dataset], as_json=as_json)


@ledger_app.command("show")
def show(
    file: File = None,
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this data set; repeat for more.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what was spent, and what is left.

    That is the caps of each data set with what is left of them, every release and every change of a cap.
    """
    _show(Ledger.open(_path(file)), dataset, as_json=as_json)


@ledger_app.command("check")
def check(
    manifests: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[MANIFEST...]", help="manifest.json of releases, which the ledger must know."
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The data set that they are of; by default any.")
    ] = None,
    ledger: Chosen = None,
    as_json: AsJson = False,
) -> None:
    """Check that a ledger is whole and up to date.

    Exit code 1 where it does not know the release with one of these manifests. The table beside a manifest
    is read, and is known where a release with these very cells is on record; without the table only its
    number and allocation can be compared. A ledger that was restored from an older copy does not know the
    releases since. That is noticed without manifests only by the same user on the same machine: elsewhere
    give the manifests of all releases.
    """
    found = Ledger.open(_path(ledger))
    known = found.check(manifests or [], dataset)
    events = len(found.events())
    if as_json:
        document = {"ledger": str(found.path), "id": found.id, "events": events}
        out_json({**document, "manifests": [one.to_dict() for one in known]})
    else:
        out(f"{found.path}: whole, {events:,} events")
        for one in known:
            out(str(one))
    if not all(one.holds for one in known):
        raise typer.Exit(VerificationError.exit_code)


@ledger_app.command("record")
def record(
    dataset: Dataset,
    release: Annotated[
        Path,
        typer.Argument(
            metavar="MANIFEST",
            help="manifest.json of the release, with its table beside it, so that ledger check knows it "
            "again; where these are lost, its allocation file.",
        ),
    ],
    why: Why,
    ledger: Chosen = None,
    as_json: AsJson = False,
) -> None:
    """Count a release that was made without it.

    So for one that a restored ledger does not know. It is spent, whatever the caps say.
    """
    found = Ledger.open(_path(ledger))
    made = record_release(found, dataset, release, why)
    note(f"note: counted as release {made.number} of {dataset}")
    if dict(found.events())[made.event].get("cells") is None:
        note("note: without its table, so that ledger check cannot tell whether it is this one")
    _show(found, [dataset], as_json=as_json)


@ledger_app.command("accept")
def accept(why: Why, file: File = None) -> None:
    """Go on from an older copy of a ledger.

    Only where the newer one is lost. What was spent since is then unknown to it: record each of those
    releases.
    """
    path = _path(file)
    try:
        Ledger.open(path)
    except LedgerError:
        # what is damaged is refused all the same
        Ledger.open(path, older=why)
        out(f"{path}: accepted; it stays on record that it was")
        out("next: budget-opt ledger check with all your manifests, then budget-opt ledger record for each")
        out("that it does not know; changes of caps and new data sets since then are lost: make them again")
    else:
        out(f"{path}: is not older than what was seen of it, so there is nothing to accept")


def _path(given: Path | None) -> Path:
    return Ledger.default_path() if given is None else given


def _note_never_binding(caps: Caps) -> None:
    for line in never_binding(caps):
        note(f"note: {line}")


def _show(ledger: Ledger, names: list[str] | None, *, as_json: bool) -> None:
    datasets = ledger.shown(names or None)
    if as_json:
        out_json(
            {"ledger": str(ledger.path), "id": ledger.id, "datasets": [one.to_dict() for one in datasets]}
        )
        return
    out(f"ledger {ledger.path}")
    if not datasets:
        out("no data set yet; next: budget-opt ledger add NAME --total E")
    for one in datasets:
        out(one)
