"""The Laplace mechanism with post-processing beside randomized response, claim by claim (Wang 2016).

    python benchmarks/wang.py [--quick]

Writes `results/wang.md` and `results/wang.png`: each claim of the paper with where it holds, where it fails
and by how much; proportions, entropy and chi-square at the sizes of the YesiWell table (shares that we state,
the data are not public); degrees and triangles of `shared/data/facebook_ego` with every pair of nodes
randomized. Full in about three minutes of one core, `--quick`, which prints the page only, in less than
one. Seeds are fixed; nothing here is private. Of the paper's comparators, noise scaled to the smooth
sensitivity is left out: it needs the true graph to be with a trusted party, as LM-global does, which stands
for that setting.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.apart import use_one_thread

use_one_thread()  # before anything loads a BLAS

from benchmarks.results_files import FOLDER, versions  # noqa: E402
from benchmarks.wang_claims import Finding, findings  # noqa: E402
from benchmarks.wang_designs import FloatArray  # noqa: E402
from benchmarks.wang_figure import draw  # noqa: E402
from benchmarks.wang_graph import read_graph  # noqa: E402
from benchmarks.wang_graph_rows import GraphRow  # noqa: E402
from benchmarks.wang_graph_rows import rows as graph_rows  # noqa: E402
from benchmarks.wang_measured import measured  # noqa: E402
from benchmarks.wang_table import TABLE, N, Row  # noqa: E402
from benchmarks.wang_table import rows as table_rows  # noqa: E402

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
GRAPH_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SMALL = 300
"""Nodes of the part of the graph on which the coverage is counted."""


def main(folder: Path = FOLDER, *, quick: bool = False) -> None:
    """Run everything and write both files; `quick` prints the page and writes nothing."""
    started = time.process_time()
    claims = list(findings())
    table = table_rows(EPSILONS, 10_000 if quick else 100_000)
    graph = list(graph_rows(read_graph(DATA), GRAPH_EPSILONS, 1 if quick else 4))
    covered = list(graph_rows(read_graph(DATA, SMALL), GRAPH_EPSILONS, 100 if quick else 1_000))
    text = as_text([*claims, *measured(table, graph)], table, graph, covered, time.process_time() - started)
    if quick:
        print(text)
        return
    folder.mkdir(parents=True, exist_ok=True)
    draw(table, graph, folder / "wang.png")
    (folder / "wang.md").write_text(text, encoding="utf-8")


def as_text(
    claims: Sequence[Finding],
    table: Sequence[Row],
    graph: Sequence[GraphRow],
    covered: Sequence[GraphRow],
    seconds: float,
) -> str:
    """The results for reading."""
    lines = ["# Results of `benchmarks/wang.py`", "", "What is compared, and how: its docstring and those of"]
    lines += ["`wang_designs.py`, `wang_table.py`, `wang_graph.py`.", "", "![Figure](wang.png)", ""]
    lines += ["## Claims", "", "| claim | verdict | holds | fails |", "|---|---|---|---|"]
    lines += [f"| {one.claim} | {one.verdict} | {one.holds} | {one.fails} |" for one in claims]
    lines += ["", *_table_part(table), "", *_graph_part(graph, covered), ""]
    stated = ", ".join(f"{name} {value}" for name, value in versions().items() if value is not None)
    return "\n".join([*lines, f"{seconds:.0f} seconds of the CPU; {stated}.", ""])


_TABLE_WORDS = """
`delta` is the standard deviation by the delta method, `simulated` that of the estimates, `rms` their distance
from the truth. Shares and the mean level are not repaired: there the formula is exact. For entropy and
chi-square negative shares are set to 0, which the delta method does not know: where the two differ the
estimate is mostly the repair, and a small deviation says nothing.
"""

_GRAPH_WORDS = f"""
Mean absolute error of an entry. `formula` is the mean standard error computed from the true graph (a mean
absolute error is 0.8 of it), `coverage` that of the analyst's 95 % intervals: of the entries here, and over
the repetitions on the first {SMALL} nodes; there a degree has less than one changed pair at the
largest epsilon, and counts that small have no intervals of exactly 95 %. `queries` is the number of
questions of equal budgets after which noise of the global sensitivity is as large as the corrected release,
which answers any number of them.
"""


def _table_part(table: Sequence[Row]) -> list[str]:
    columns = " mean | delta | simulated | rms |"
    lines = [
        f"## Table of {TABLE.shape[0]} by {TABLE.shape[1]} categories, n = {N}",
        "",
        f"Stated shares, LDL {_listed(TABLE.sum(axis=1))}, total cholesterol {_listed(TABLE.sum(axis=0))}.",
        _TABLE_WORDS,
        f"| statistic | epsilon | truth | RR{columns} LM{columns}",
        "|---|" + "--:|" * 10,
    ]
    for statistic in dict.fromkeys(row.statistic for row in table):
        for epsilon in dict.fromkeys(row.epsilon for row in table):
            own = [row for row in table if (row.statistic, row.epsilon) == (statistic, epsilon)]
            cells = [
                f"{row.mean:.4g} | {row.delta:.3g} | {row.simulated:.3g} | {row.distance:.3g}" for row in own
            ]
            lines.append(f"| {statistic} | {epsilon:g} | {own[0].truth:.4g} | {' | '.join(cells)} |")
    return lines


def _graph_part(graph: Sequence[GraphRow], covered: Sequence[GraphRow]) -> list[str]:
    small = {(row.statistic, row.epsilon, row.mechanism): row.covered for row in covered}
    heads = "| statistic | epsilon | by | corrected | raw | LM-global | queries | formula | coverage | of"
    lines = ["## facebook_ego: 4,039 nodes, 88,234 edges, 8,154,741 pairs randomized", _GRAPH_WORDS]
    lines += [f"{heads} {SMALL} nodes |", "|---|--:|---|" + "--:|" * 7]
    for row in sorted(graph, key=lambda row: (row.statistic, row.epsilon)):
        errors = (
            f"{row.corrected:,.1f} | {row.raw:,.1f} | {row.noisy:,.1f} | {row.queries:.2g} | {row.exact:,.1f}"
        )
        here = "-" if row.statistic == "total" else f"{100 * row.covered:.1f} %"
        there = f"{100 * small[row.statistic, row.epsilon, row.mechanism]:.1f} %"
        lines.append(f"| {row.statistic} | {row.epsilon:g} | {row.mechanism} | {errors} | {here} | {there} |")
    return lines


def _listed(shares: FloatArray) -> str:
    return " ".join(f"{share:.3f}" for share in shares)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, less than a minute, no file")
    main(quick=parser.parse_args().quick)
