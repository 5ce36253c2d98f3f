"""Our solvers beside SCIP and cvxpy: one command, one run, one table.

    python benchmarks/solve.py [--only global|convex|growth] [--instances NAME ...] [--limit SECONDS]
                               [--gp-limit SECONDS] [--quick] [--output FOLDER]

Needs the extra `test`. Takes about half an hour on an idle machine: global 15 minutes, convex 8, growth 6.
Prints a row as soon as it is known and keeps it at once in `benchmarks/results/`: `global.json`,
`convex.json`, `growth.json`, `growth.png`, and all of them as one table, `solve.md`. A choice (`--instances`,
`--quick`, other limits) is only printed, unless `--output` says where it may be written.

Every form runs in a process of its own on one thread (BLAS and Clarabel too), after all imports and a small
problem, one form after the other. What fails, or does not end, is a row that says so. "s" are seconds of the
clock on the wall, "CPU" those of all processors of the process. Ratios are of seconds on the wall.

- global: the 24 problems of ../shared/instances/global (left out with a message where they are not there) and
  all pairs of 50 attributes at E = 35. Ours is `budget_opt.solve`, from the problem to the allocation: time
  until relative gaps of 1e-2, 1e-4 and 1e-6 are proved, boxes bounded, and the gap of the allocation. SCIP
  has the same gaps, time limit and one thread, and the form of `scip_form.py`, the fastest of those tried;
  its points may overspend by 1e-6.
- convex: the cases of `convex_cases.py`. Ours is `solvers.table.solve`, from arrays to a split with its
  certificate; cvxpy's time includes its own build. "off by" is how far the value of cvxpy's split, made to
  keep the caps, lies from ours (floors may be missed): Clarabel proves no gap. gp=True has 30 seconds a case.
- growth: our time against M and K, CPU seconds; hollow in the figure where the gap was not proved in time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.apart import use_one_thread

use_one_thread()  # before anything loads a BLAS

from benchmarks import convex_rows, global_cases, growth, results_files  # noqa: E402
from benchmarks.layout import LAYOUTS, heads, line  # noqa: E402

QUICK = ["dense5_0.7", "sym5", "floor10"]
"""The instances of `--quick`."""
LARGEST_QUICK = 780


def main(arguments: list[str] | None = None) -> None:
    """Runs the parts asked for, printing and keeping each row."""
    asked = _parser().parse_args(arguments)
    folder = _folder(asked)
    for part in [asked.only] if asked.only else LAYOUTS:
        layout = LAYOUTS[part]
        settings, made = _PARTS[part](asked)
        print("\n".join(["", f"## {layout.title}", "", *heads(layout)]), flush=True)
        rows: list[dict[str, Any]] = []
        for row in made:
            rows.append(row)
            print(line(layout.cells(row)), flush=True)
            if folder is not None:
                results_files.save(folder, part, settings, rows)
        if part == "growth" and folder is not None and any(row["seconds"] for row in rows):
            growth.draw(rows, folder / "growth.png")
    if folder is not None:
        print(f"\nwritten to {folder}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=list(LAYOUTS))
    parser.add_argument("--instances", nargs="+", metavar="NAME", help="of the global part")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of each solve")
    parser.add_argument("--gp-limit", type=float, default=convex_rows.GP_LIMIT, metavar="SECONDS")
    parser.add_argument("--quick", action="store_true", help="the small cases only")
    parser.add_argument("--output", type=Path, metavar="FOLDER")
    return parser


def _folder(asked: argparse.Namespace) -> Path | None:
    """Where results go: nowhere for a choice, unless that is said."""
    whole = not (asked.quick or asked.instances or asked.limit) and asked.gp_limit == convex_rows.GP_LIMIT
    output: Path | None = asked.output
    return results_files.FOLDER if output is None and whole else output


Made = tuple[Mapping[str, Any], Iterator[dict[str, Any]]]
"""What is stated about a part, and its rows."""


def _global(asked: argparse.Namespace) -> Made:
    limit = asked.limit or global_cases.LIMIT
    if not global_cases.INSTANCES.is_dir():
        print("the shared instances are not beside this checkout, in ../shared/instances/global: left out")
    known = global_cases.names()
    wanted = asked.instances or ([name for name in QUICK if name in known] if asked.quick else known)
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise SystemExit(f"--instances: {', '.join(unknown)} not known, must be of {', '.join(known)}.")
    return {"time_limit": limit}, global_cases.rows(wanted, limit)


def _convex(asked: argparse.Namespace) -> Made:
    limit = asked.limit or convex_rows.LIMIT
    largest = LARGEST_QUICK if asked.quick else 10**9
    made = convex_rows.rows(limit, asked.gp_limit, largest)
    return {"time_limit": limit, "gp_time_limit": asked.gp_limit}, made


def _growth(asked: argparse.Namespace) -> Made:
    limit = asked.limit or growth.LIMIT
    return {"time_limit": limit}, growth.rows(limit, quick=asked.quick)


_PARTS: dict[str, Callable[[argparse.Namespace], Made]] = {
    "global": _global,
    "convex": _convex,
    "growth": _growth,
}

if __name__ == "__main__":
    main()
