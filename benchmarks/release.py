"""Releases of files of any size: peak memory and rows a second, Parquet to Parquet, four columns (R26).

Makes tables of 10 and 100 million rows, in batches, in a folder that it removes; releases each with
`bo.randomize_file` in a process of its own, shuffled and in the original's order; and prints what came out
as a page for `results/release.md`. Exits 1 where 100 million rows take more than 600 MB, or more than 50 MB
above those of the smaller table.

    python benchmarks/release.py > benchmarks/results/release.md

takes about three minutes and 3.5 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

Order = Literal["shuffle", "public"]

ROWS = (10_000_000, 100_000_000)
ORDERS: tuple[Order, ...] = ("shuffle", "public")
CATEGORIES = {"smoker": 2, "region": 4, "income": 5, "occupation": 40}
LARGEST_MB = 600.0
LARGEST_GROWTH_MB = 50.0
_BATCH = 500_000
_ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Measured:
    """One release: `peak_mb` is the resident memory of its process at most, in 10^6 bytes."""

    rows: int
    row_order: Order
    peak_mb: float
    seconds: float
    cpu_seconds: float
    released_bytes: int


def make_table(path: Path, rows: int) -> None:
    """A Parquet file of codes; the pattern is of no importance, it only has every category."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    random = np.random.default_rng(rows)
    schema = pa.schema([(name, pa.int64()) for name in CATEGORIES])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, _BATCH):
            count = min(_BATCH, rows - start)
            writer.write_table(
                pa.table({name: random.integers(0, r, count) for name, r in CATEGORIES.items()})
            )


def release(source: Path, target: Path, row_order: Order) -> Measured:
    """Release a table in this process; only a fresh process says how much memory that takes."""
    import budget_opt as bo
    from budget_opt.randomizer.files import FileOptions

    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, r in CATEGORIES.items()],
        moments=[bo.CrossMoment("smoker", "income"), bo.CrossMoment("region", "occupation")],
        total_epsilon=5.0,
    )
    started, cpu = time.perf_counter(), time.process_time()
    made = bo.randomize_file(source, bo.uniform(problem), target, FileOptions(row_order=row_order))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    return Measured(made.rows, row_order, _peak_mb(), seconds, cpu_seconds, target.stat().st_size)


def measured(folder: Path, rows: int, row_order: Order) -> Measured:
    """A release in a process of its own, of the table of so many rows in the folder, which is made first."""
    source, target = folder / f"{rows}.parquet", folder / "released.parquet"
    if not source.exists():
        _in_a_process("make", str(source), str(rows))
    said = _in_a_process("release", str(source), str(target), row_order)
    target.unlink()
    return Measured(**json.loads(said))


def _in_a_process(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def _peak_mb() -> float:
    """Of this process alone: what `getrusage` says begins with the memory of the process that forked it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


def faults(found: list[Measured]) -> list[str]:
    """What is above the limits of R26."""
    told = []
    for row_order in ORDERS:
        small, *_, large = sorted((m for m in found if m.row_order == row_order), key=lambda m: m.rows)
        if large.peak_mb > LARGEST_MB:
            told.append(f"{row_order}: {large.peak_mb:.0f} MB, the limit is {LARGEST_MB:.0f} MB")
        if large.peak_mb > small.peak_mb + LARGEST_GROWTH_MB:
            told.append(
                f"{row_order}: {large.peak_mb:.0f} MB after {small.peak_mb:.0f} MB, "
                f"the limit is {LARGEST_GROWTH_MB:.0f} MB more"
            )
    return told


def page(found: list[Measured]) -> str:
    """The results for people."""
    import numpy as np
    import pyarrow as pa

    lines = [
        "# Results of `benchmarks/release.py`",
        "",
        f"Parquet to Parquet, four columns of {', '.join(map(str, CATEGORIES.values()))} categories:",
        "",
        "    python benchmarks/release.py > benchmarks/results/release.md",
        "",
        "| rows | order | peak memory, MB | seconds | CPU | million rows a second of CPU | released, MB |",
        "|--:|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {m.rows:,} | {m.row_order} | {m.peak_mb:.0f} | {m.seconds:.1f} | {m.cpu_seconds:.1f} "
        f"| {m.rows / m.cpu_seconds / 1e6:.2f} | {m.released_bytes / 1e6:.0f} |"
        for m in found
    ]
    limits = f"{LARGEST_MB:.0f} MB, and {LARGEST_GROWTH_MB:.0f} MB more than the smaller table"
    verdict = "; ".join(faults(found)) or "kept"
    versions = f"numpy {np.__version__}, pyarrow {pa.__version__}, {os.cpu_count()} processors"
    return "\n".join(
        [*lines, "", f"Limits (R26): {limits}: {verdict}.", "", f"{datetime.now(UTC).date()}; {versions}."]
    )


def main() -> None:
    """Make, release, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS), metavar="N")
    parser.add_argument("--folder", type=Path, help="where the tables lie meanwhile; the system's by default")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for rows in sorted(options.rows):
            for row_order in ORDERS:
                found.append(measured(Path(folder), rows, row_order))
                print(found[-1], file=sys.stderr)
    print(page(found))
    sys.exit(bool(faults(found)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make_table(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["release"]:
        order: Order = "shuffle" if sys.argv[4] == "shuffle" else "public"
        print(json.dumps(asdict(release(Path(sys.argv[2]), Path(sys.argv[3]), order))))
    else:
        main()
