"""Joint tables from a release: Castell's five methods, ours, and LoPub, on four public tables.

    python -m benchmarks.joint                    25 minutes of a shared core: results/joint.{md,png}
    python -m benchmarks.joint --quick            one minute, few sets, into the working directory
    python -m benchmarks.joint --keep rows.json   keeps the numbers as well, of which
    python -m benchmarks.joint --again rows.json  writes page and figure without a run

Every table is released as a whole, each attribute at the same epsilon, by the matrices of our sampler. Of a
release, random sets of w = 2 .. 6 attributes are estimated by every method from the same counts; the truth
is the table's own shares. RR-Joint and LoPub need releases of their own. RR-Joint randomizes the set's
combinations as one at w times epsilon, the set's share of the record's budget; unlike the others its
release answers for this set only. LoPub's budgets and regressions: `lopub.py`. AVD is 1/2 sum |truth -
estimate|, the error of a cell is mean |truth - estimate| (`budget_opt.estimators.joint.metrics`). Where a
method runs on part of the sets only (likelihood up to 5,000 cells, Lasso by the size of its design matrix),
a star says so: its means are of the smaller tables.

Budgets are epsilon an attribute, or the total of a set, split evenly over its w
attributes. Seconds are of the processor, without counting and without the release.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import joint_figure, joint_page
from benchmarks.joint_cases import Point, Release, Row, points, rows_of
from benchmarks.joint_data import Data, all_data
from benchmarks.results_files import FOLDER

WIDTHS = range(2, 7)
SEED = 20261130


@dataclass(frozen=True)
class Part:
    """What is released, how often, and how many sets of each width are looked at.

    Sets take turns with the releases.
    """

    budget: str
    epsilons: tuple[float, ...]
    sets: int
    releases: int


FULL = (
    Part("attribute", (1.0,), 30, 4),
    Part("attribute", (0.5, 2.0, 3.0, 4.0), 20, 4),
    Part("total", (2.0, 6.0), 20, 4),
)
QUICK = (Part("attribute", (1.0, 3.0), 2, 1), Part("total", (6.0,), 2, 1))


def measured(data: Data, part: Part, number: int) -> Iterator[tuple[list[Row], list[Point]]]:
    """The rows of a table, an epsilon and a width at a time, with the points of RR-Ind-Joint."""
    for epsilon in part.epsilons:
        for w in WIDTHS:
            rng = np.random.default_rng([SEED, number, round(1000 * epsilon), w])
            each = epsilon / w if part.budget == "total" else epsilon
            sets = data.random_sets(np.random.default_rng([SEED, number, w]), w, part.sets)
            found = [
                point
                for turn in range(part.releases)
                for release in [Release(data, each, rng)]
                for names in sets[turn :: part.releases]
                for point in points(release, names)
            ]
            rows = rows_of(data, part.budget, epsilon, w, found)
            yield rows, [point for point in found if point.method == "RR-Ind-Joint"]


def run(parts: tuple[Part, ...]) -> dict[str, Any]:
    """Everything that page and figure are made of."""
    rows: list[Row] = []
    growth: list[Point] = []
    for number, data in enumerate(all_data()):
        for part in parts:
            for some, joint in measured(data, part, number):
                rows += some
                first = some[0]
                if (first.data, first.budget, first.epsilon) == ("Adult", "attribute", 1.0) and first.w <= 5:
                    growth += joint
                print(
                    f"{first.data}, {first.budget}, epsilon {first.epsilon:g}, w {first.w}", file=sys.stderr
                )
    tables = [
        {"title": data.title, "n": data.n, "attributes": len(data.codes), "paper_w": data.paper_w,
         "cardinalities": list(data.cardinality.values())}
        for data in all_data()
    ]  # fmt: skip
    return {
        "parts": [asdict(part) for part in parts],
        "tables": tables,
        "rows": [asdict(row) for row in rows],
        "growth": [asdict(point) for point in growth],
    }


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sets, into the working directory")
    parser.add_argument("--keep", type=Path, help="file to keep the numbers in")
    parser.add_argument("--again", type=Path, help="such a file: page and figure of it, without a run")
    options = parser.parse_args()
    if options.again is not None:
        document = json.loads(options.again.read_text("utf-8"))
    else:
        if not all_data():
            sys.exit("the reference data are not beside this checkout, in ../shared/data")
        document = run(QUICK if options.quick else FULL)
    if options.keep is not None:
        options.keep.write_text(json.dumps(document, allow_nan=False), "utf-8")
    folder = Path() if options.quick else FOLDER
    (folder / "joint.md").write_text("\n".join(joint_page.lines(document)) + "\n", "utf-8")
    joint_figure.write(document, folder / "joint.png")


if __name__ == "__main__":
    main()
