"""What clusters are worth on the problem library, beside the best split alone: one run, one table.

    python benchmarks/design.py [NAME ...] [--limit SECONDS] > benchmarks/results/design.md

Every problem of `problems/` whose epsilons are not all pinned, with its own objective and under its own name
again with `min_variance`, where its objective is another and it has a total. Clusters have at most 64 joint
categories. "even" is the even split without clusters; "split" the best split without clusters; "clusters" the
chosen clusters with the even split; "both" those with their best split; "dependence" clusters by the
weights of the moments (Domingo-Ferrer and Soria-Comas 2022) with their best split. All are values of the
objective; "better" is the factor by which both are better than the best split alone, whichever way the
objective goes. "gap" is proved over all partitions, with every split. "x" stands where a split breaks a floor
or there is none. Seconds are those of the CPU, of the whole design: all of the splits above and the search;
"solve" those of the best split without clusters, in the same run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.apart import timed, use_one_thread

use_one_thread()  # before anything loads a BLAS

import budget_opt as bo  # noqa: E402
from benchmarks.results_files import versions  # noqa: E402
from budget_opt.api.design.result import ALONE, CHOSEN, CHOSEN_EVEN, DEPENDENCE, EVEN, Alternative  # noqa: E402
from budget_opt.errors import InfeasibleError  # noqa: E402

PROBLEMS = Path(__file__).resolve().parents[1] / "problems"
LIMIT = 120.0
_HEADS = (
    "problem", "objective", "M", "partitions", "solved", "even", "split", "clusters", "dependence", "both",
    "better", "gap", "s", "solve s", "chosen",
)  # fmt: skip


def problems(names: list[str]) -> Iterator[tuple[str, bo.Problem]]:
    """The problems of these names, all where there are none, and each with `min_variance` as well."""
    for path in sorted(PROBLEMS.glob("*.json")):
        if path.stem == "catalogue" or (names and path.stem not in names):
            continue
        problem = bo.Problem.read(path)
        if all(attribute.epsilon is not None for attribute in problem.attributes):
            continue
        yield path.stem, problem
        if problem.objective != "min_variance" and problem.total_epsilon is not None:
            yield path.stem, problem.with_objective("min_variance")


def row(name: str, problem: bo.Problem, limit: float) -> list[str]:
    """The cells of one problem."""
    open_ = problem.with_fields(clusters="auto")
    head = [name, problem.objective, str(len(problem.attributes))]
    solved, _ = timed(lambda: _solved(problem, limit))
    try:
        times, design = timed(lambda: bo.design(open_, time_limit=limit))
    except InfeasibleError as failure:
        return [*head, str(failure).splitlines()[0], *[""] * (len(_HEADS) - 4)]
    values = {key: design[key] for key in (EVEN, ALONE, CHOSEN_EVEN, DEPENDENCE, CHOSEN)}
    ratio = values[CHOSEN].ratio
    better = "" if ratio is None else f"{1 / ratio if design.minimized else ratio:.3g}"
    return [
        *head,
        "not listed" if design.considered is None else f"{design.considered:,}",
        f"{design.solved:,}",
        *(_value(one) for one in values.values()),
        better,
        f"{design.relative_gap:.2g}",
        f"{times.cpu:.1f}",
        f"{solved.cpu:.2f}",
        "; ".join(one.name for one in design.clusters) or "none",
    ]


def _solved(problem: bo.Problem, limit: float) -> bo.Allocation | None:
    try:
        return bo.solve(problem, time_limit=limit)
    except InfeasibleError:
        return None


def _value(one: Alternative) -> str:
    return f"{one.value:.4g}" if one.keeps_all and one.value is not None else "x"


def main(arguments: list[str] | None = None) -> None:
    """Prints the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help="of each design")
    asked = parser.parse_args(arguments)
    print("# Results of `benchmarks/design.py`\n\nWhat is compared, and how: its docstring.\n")
    print(f"| {' | '.join(_HEADS)} |\n|---|---|{'--:|' * (len(_HEADS) - 3)}---|", flush=True)
    for name, problem in problems(asked.names):
        print(f"| {' | '.join(row(name, problem, asked.limit))} |", flush=True)
    stated = ", ".join(f"{name} {value}" for name, value in versions().items() if value is not None)
    print(f"\ntime limit {asked.limit:g} s; {stated}.")


if __name__ == "__main__":
    main()
