"""What knowing the source is worth: epsilon and mutual information for a Hamming distortion (Kalantari 2018).

    python benchmarks/hamming.py [--quick]

Writes `results/hamming.md` and `results/hamming.png`: curves like the paper's figures 4 to 7 for M = 6 and 10
(its example sets are missing from our copy; ours are in `hamming_sources.py`), the thresholds at which the
output alphabet shrinks, and how far `bo.hamming` is from the judges of `hamming_judges.py`: the linear
program over all r^2 entries at our epsilon, its inverse by bisection, and the paper's form with r diagonal
entries. About two minutes of one core, `--quick`, which prints the page only, a quarter of one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.apart import use_one_thread

use_one_thread()  # before anything loads a BLAS

from benchmarks.hamming_figure import draw  # noqa: E402
from benchmarks.hamming_judges import (  # noqa: E402
    by_bisection,
    leakage,
    matrix_program,
    reduced_form,
    symmetric_leakage,
)
from benchmarks.hamming_sources import PUBLISHED, known_order, pieces  # noqa: E402
from benchmarks.results_files import FOLDER, versions  # noqa: E402
from budget_opt.mechanisms.hamming import (  # noqa: E402
    Source,
    folding_bounds,
    least_epsilon,
    thresholds,
)


@dataclass(frozen=True)
class Row:
    """What is needed at one distortion, in nats: epsilon of classes I to III, information of I and II."""

    distortion: float
    nothing_known: float
    order_known: float
    reported: int
    lower: float
    two_pieces: float
    upper: float
    information_nothing: float
    information_order: float


def row(cardinality: int, distortion: float) -> Row:
    """All curves at this distortion."""
    source = known_order(cardinality)
    known, folded = least_epsilon(source, distortion), folding_bounds(pieces(cardinality), distortion)
    return Row(
        distortion,
        least_epsilon(Source.anything(cardinality), distortion).epsilon,
        known.epsilon,
        len(known.reported),
        folded.lower,
        folded.exact.epsilon,
        folded.upper.epsilon,
        symmetric_leakage(cardinality, distortion),
        leakage(source, distortion),
    )


@dataclass(frozen=True)
class Agreement:
    """The largest differences from the judges over some distortions, and seconds of the CPU for each."""

    cardinality: int
    distances: tuple[float, ...]
    seconds: tuple[float, ...]


def agreement(cardinality: int, distortions: Sequence[float]) -> Agreement:
    """Ours beside the program over all entries (distortion), its inverse, and the reduced form (epsilon)."""
    source = known_order(cardinality)
    seconds = [0.0] * 4
    distances = [0.0] * 3
    for distortion in distortions:
        clock = [time.process_time()]
        ours = least_epsilon(source, distortion).epsilon
        clock.append(time.process_time())
        found = matrix_program(source, ours)
        clock.append(time.process_time())
        inverse = by_bisection(source, distortion)
        clock.append(time.process_time())
        reduced = reduced_form(source, distortion)
        clock.append(time.process_time())
        away = abs(found - distortion), abs(inverse - ours), abs(reduced - ours)
        distances = [max(pair) for pair in zip(distances, away, strict=True)]
        seconds = [total + b - a for total, a, b in zip(seconds, clock, clock[1:], strict=False)]
    return Agreement(cardinality, tuple(distances), tuple(seconds))


def main(folder: Path = FOLDER, *, quick: bool = False) -> None:
    """Run everything and write both files; `quick` prints the page and writes nothing."""
    step = 10 if quick else 2
    curves = {
        size: [row(size, percent / 100) for percent in range(2 if quick else 1, 92, step)]
        for size in PUBLISHED
    }
    judged = [
        agreement(size, [0.05, 0.4] if quick else [0.05, 0.2, 0.3, 0.4, 0.5, 0.6]) for size in PUBLISHED
    ]
    text = as_text(curves, judged)
    if quick:
        print(text)
        return
    folder.mkdir(parents=True, exist_ok=True)
    draw(curves, {size: thresholds(known_order(size)) for size in PUBLISHED}, folder / "hamming.png")
    (folder / "hamming.md").write_text(text, encoding="utf-8")


def as_text(curves: dict[int, list[Row]], judged: Sequence[Agreement]) -> str:
    """The results for reading."""
    lines = ["# Results of `benchmarks/hamming.py`", "", "What is compared, and how: its docstring.", ""]
    lines += ["![Figure](hamming.png)", "", _WORDS.strip(), ""]
    for size, rows in curves.items():
        lines += [f"## M = {size}", "", _thresholds_text(size), "", _HEAD, "|---" * 9 + "|"]
        lines += [_line(one) for one in rows if round(one.distortion * 100) % 10 in {1, 2, 5}]
        lines.append("")
    lines += [
        _JUDGED.strip(),
        "",
        "| M | program at our epsilon | inverse | reduced form | CPU seconds |",
        "|---" * 5 + "|",
    ]
    for one in judged:
        shown = " | ".join(f"{distance:.0e}" for distance in one.distances)
        lines.append(f"| {one.cardinality} | {shown} | {', '.join(f'{s:.2g}' for s in one.seconds)} |")
    stated = ", ".join(f"{name} {value}" for name, value in versions().items() if value is not None)
    return "\n".join([*lines, "", f"{stated}.", ""])


_HEAD = "| D | I | II | reported | III: lower | III | III: upper | MI of I | MI of II |"
_WORDS = """
Epsilon and mutual information (MI, its largest over the source) in nats. Class I, II and the upper end of III
are proved; the lower end of III and MI are to the solvers' tolerances. At small distortions knowing the order
is worth nothing for epsilon, at larger ones much; for mutual information it is worth something everywhere. MI
is convex in D, epsilon is not; they meet only where both are 0.
"""
_JUDGED = """
## Against the judges

Largest distances over the distortions (of the share of changed cells; of epsilon twice), and the seconds of
ours, of the program over all entries, of its inverse by bisection and of the reduced form, summed.
"""


def _thresholds_text(size: int) -> str:
    bounds = thresholds(known_order(size))
    listed = ", ".join(f"{bound:.4f} ({k})" for k, bound in enumerate(bounds, start=1))
    return f"Known order: from these distortions on (so many) categories are reported: {listed}."


def _line(one: Row) -> str:
    numbers = (
        one.nothing_known, one.order_known, one.lower, one.two_pieces, one.upper, one.information_nothing,
        one.information_order,
    )  # fmt: skip
    i, ii, lower, iii, upper, mi, mii = (f"{number:.4f}" for number in numbers)
    return (
        f"| {one.distortion:.2f} | {i} | {ii} | {one.reported} | {lower} | {iii} | {upper} | {mi} | {mii} |"
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a coarse page on the screen only")
    main(quick=options.parse_args().quick)
