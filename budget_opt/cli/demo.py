"""`budget-opt demo`: the whole job on survey data from a dependency, each step said aloud."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table
from rich.text import Text

import budget_opt as bo
from budget_opt.allocation.show import renderable
from budget_opt.api.releasing.publishing import VERIFICATION, Place, Published, publish
from budget_opt.cli.output import out
from budget_opt.cli.survey import load_survey, survey_problem
from budget_opt.errors import InputError
from budget_opt.model.documents import write_text
from budget_opt.tables.printing import percent
from budget_opt.tables.rows import as_csv

if TYPE_CHECKING:
    from budget_opt.estimators.estimate import MomentEstimate
    from budget_opt.estimators.moments.moment_estimates import MomentEstimates

DEFAULT = "budget-opt-demo"


def demo(
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder; default budget-opt-demo.")
    ] = None,
) -> None:
    """Do the whole job on a real survey: priorities, best split, release, verification, estimates."""
    survey, problem = load_survey(), survey_problem()
    place = _new_folder(folder)
    problem.write(place / "problem.json")
    out(
        f"1. The question: {len(survey):,} records, {len(problem.attributes)} attributes to randomize, "
        f"{len(problem.moments)} cross-moments that matter, total epsilon {problem.total_epsilon:g} a record"
    )
    out(f"   {place / 'problem.json'}\n\n2. The best split of the budget, with its proof")
    allocation = bo.solve(problem, time_limit=10)
    allocation.write(place / "public" / "allocation.json")
    out(renderable(allocation))
    even = bo.uniform(problem)
    out("\n3. Beside the even split")
    out(_comparison(allocation, even))
    _draw(allocation, even, place / "public" / "retention.png")
    out("\n4. The release, verified against the originals before its rows are shuffled")
    published = _release(survey, place)
    out(f"   {str(published).replace(chr(10), chr(10) + '   ')}")
    bo.verify(bo.Allocation.read(place / "public" / "allocation.json"), problem=problem).require()
    out("   the allocation keeps its promises: losses, total, floors, value and bound\n")
    out("5. What an analyst who has only the folder public/ can say of the originals")
    estimates = _estimate(published.release.table, allocation, place / "public" / "estimates.csv")
    out(estimates.renderable())
    out(_coverage(survey, problem, estimates))
    out(
        f"\nEverything is in {place}. public/ may leave the house: the release, its allocation and manifest, "
        f"estimates.csv and the figure retention.png. internal/{VERIFICATION} must not."
    )


def _new_folder(wanted: Path | None) -> Path:
    """A folder that does not exist yet, with its public and internal parts."""
    if wanted is None:
        names = (Path(DEFAULT if i == 1 else f"{DEFAULT}-{i}") for i in count(1))
        wanted = next(name for name in names if not name.exists())
    elif wanted.exists() and (not wanted.is_dir() or any(wanted.iterdir())):
        raise InputError(f"--out {wanted}: exists and is not an empty folder. Choose another place.")
    try:
        for part in ("public", "internal"):
            (wanted / part).mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise InputError(
            f"--out {wanted}: cannot be made ({failure.strerror}). Choose another place."
        ) from None
    return wanted


def _release(survey: Any, place: Path) -> Published:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "survey.csv"
        survey.to_csv(data, index=False)
        target = Place(place / "public" / "released.csv", place / "internal")
        return publish(place / "public" / "allocation.json", data, target)


def _comparison(best: bo.Allocation, even: bo.Allocation) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("moment")
    for heading in ("weight", "floor", "this split", "even split"):
        table.add_column(heading, justify="right")
    for one, other in zip(best.moments, even.moments, strict=True):
        floor = "-" if one.floor is None else percent(one.floor)
        shares = (percent(one.retention), percent(other.retention) + ("" if other.keeps_floor else " missed"))
        table.add_row(Text(one.label), f"{one.weight:g}", floor, *shares)
    if best.objective.value and even.objective.value:
        ratio = best.objective.value / even.objective.value
        table.caption = f"{best.objective.kind}: {ratio:.3g} times that of the even split"
    return table


def _draw(allocation: bo.Allocation, even: bo.Allocation, path: Path) -> None:
    from budget_opt.plots import retention_bars, save_figure

    title = f"What survives at epsilon {allocation.spent_epsilon:g} a record"
    save_figure(path, lambda ax: retention_bars(allocation, beside=even, ax=ax), title)


def _estimate(released: Path, allocation: bo.Allocation, path: Path) -> MomentEstimates:
    """Both targets into the file; those of the data, which the demo can judge, are returned."""
    wanted = [moment.attributes for moment in allocation.moments]
    estimates = {
        target: bo.estimate.moments(released, allocation, wanted, target=target)
        for target in ("population", "data")
    }
    write_text(as_csv([row for found in estimates.values() for row in found.rows()]), path)
    return estimates["data"]


def _coverage(survey: Any, problem: bo.Problem, estimates: Sequence[MomentEstimate]) -> str:
    """How many intervals hold the original value; only a holder of the originals can say it."""
    inside = 0
    for estimate in estimates:
        low, high = estimate.interval(0.95)
        inside += low <= original_moment(survey, problem, estimate.attributes) <= high
    return (
        f"   {inside} of {len(estimates)} intervals contain the original value "
        "(about 95 % are expected to; only a holder of the originals can count them)"
    )


def original_moment(table: Any, problem: bo.Problem, names: Sequence[str]) -> float:
    """The centred cross-moment of the originals, divisor n."""
    from budget_opt.tables.reading import read_codes

    codes = read_codes(table, {name: problem.attribute(name).domain for name in names})
    product = np.ones(len(codes[names[0]]))
    for name in names:
        scores = np.asarray(problem.attribute(name).score_values)[codes[name]]
        product *= scores - scores.mean()
    return float(product.mean())
