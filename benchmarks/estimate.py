"""How fast a release is counted and corrected, beside pandas and a dense matrix: CPU seconds, all in one run.

    python benchmarks/estimate.py > benchmarks/results/estimate.txt      half a minute, 1 GB

Counting: joint tables of 2, 3 and 4 columns of a million rows, encoded already; pandas gets the same codes as
integers and as categories. Reading: a folder of Parquet files counted by `bo.estimate.count`, each in a
process of its own for its peak memory. Correcting: a table of 8 attributes of 4 categories (65,536 cells)
along its axes; a dense Kronecker solve is measured at 5 attributes (1,024 cells), where both agree, and told
for 8 by its law (memory times 4,096, time times 262,144). Matrices: covariances of all pairs of 68 attributes
with their errors, from a released table, with reading.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

import budget_opt as bo
from budget_opt.estimators.channels import Channel, along_all, uniform
from budget_opt.tables.counting import joint_counts, joint_sums

ROWS, FILE_ROWS = 1_000_000, 2_000_000
CATEGORIES = (4, 5, 8, 3)
ATTRIBUTES, MATRIX_ROWS = 68, 100_000
_BEST_OF = 7


def seconds(verb: Callable[[], Any], times: int = _BEST_OF) -> float:
    """The least seconds of the CPU of some runs."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        verb()
        best = min(best, time.process_time() - start)
    return best


def _grouped(table: pd.DataFrame, names: list[str]) -> pd.Series:
    return table.groupby(names, observed=False).size()


def counting() -> Iterator[str]:
    """Joint counts beside pandas' `crosstab` and `groupby(...).size()`."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, r, ROWS, dtype=np.uint8) for r in CATEGORIES]
    weights = rng.random(ROWS)
    frame = pd.DataFrame({f"a{m}": column for m, column in enumerate(columns)})
    categories = frame.astype("category")
    for w in (2, 3, 4):
        names = [f"a{m}" for m in range(w)]
        part, shape = columns[:w], CATEGORIES[:w]
        ours = seconds(partial(joint_counts, part, shape))
        weighted = seconds(partial(joint_sums, part, shape, (weights, weights**2)))
        yield line(f"count w = {w}, {ROWS:,} rows", ours, f"with weights and squares {weighted * 1e3:.1f} ms")
        rivals: dict[str, Callable[[], Any]] = {
            "pandas crosstab": partial(pd.crosstab, [frame[name] for name in names[:-1]], frame[names[-1]]),
            "pandas groupby, integers": partial(_grouped, frame, names),
            "pandas groupby, categories": partial(_grouped, categories, names),
        }
        for name, rival in rivals.items():
            theirs = seconds(rival, 3)
            yield line(f"  {name}", theirs, f"{theirs / ours:.0f} times ours")
        expected = rivals["pandas groupby, categories"]().to_numpy().reshape(shape)
        assert np.array_equal(joint_counts(part, shape), expected)


def reading() -> Iterator[str]:
    """Three columns and survey weights of Parquet files, 2 million rows a file; the files are one, linked."""
    with tempfile.TemporaryDirectory() as place:
        one = Path(place, "one.parquet")
        rng = np.random.default_rng(2)
        columns: dict[str, Any] = {
            name: rng.integers(0, r, FILE_ROWS) for name, r in zip("abc", CATEGORIES, strict=False)
        }
        parquet.write_table(pa.table(columns | {"w": rng.random(FILE_ROWS)}), one, row_group_size=2**18)
        for files in (1, 10, 50):
            folder = Path(place, f"{files}")
            folder.mkdir()
            for i in range(files):
                (folder / f"{i}.parquet").hardlink_to(one)
            told = subprocess.run(
                [sys.executable, __file__, "--count", str(folder)], check=True, capture_output=True, text=True
            ).stdout
            spent, peak = map(float, told.split())
            yield line(f"read and count {files * FILE_ROWS:,} rows", spent, f"peak {peak / 1024:.0f} MB")


def count_folder(folder: str) -> None:
    """What `reading` measures, in a process of its own: seconds, and the peak in kilobytes."""
    allocation = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(name, categories=r) for name, r in zip("abc", CATEGORIES, strict=False)],
            moments=[bo.CrossMoment("a", "b")],
            total_epsilon=6.0,
            public=[bo.PublicColumn("w", why="made up")],
            survey={"weight": "w"},
        )
    )
    spent = seconds(partial(bo.estimate.count, folder, allocation, "a", "b", "c"), 1)
    print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def correcting() -> Iterator[str]:
    """The inverse along the axes beside a dense one."""
    channels = [Channel(f"a{m}", 0.3 + 0.05 * m, uniform(4)) for m in range(8)]
    tables = {w: np.random.default_rng(w).random((4,) * w) for w in (5, 8)}
    ours = {w: seconds(partial(along_all, Channel.corrected, channels[:w], tables[w])) for w in tables}
    variances = seconds(partial(along_all, Channel.squared, channels, tables[8]))
    yield line(
        "inverse, 8 attributes, 65,536 cells", ours[8], f"variances of all cells {variances * 1e3:.1f} ms"
    )
    dense = seconds(partial(dense_solve, channels[:5], tables[5]), 3)
    found = along_all(Channel.corrected, channels[:5], tables[5])
    assert np.allclose(dense_solve(channels[:5], tables[5]), found, rtol=1e-9, atol=1e-9)
    yield line("inverse, 5 attributes, 1,024 cells", ours[5], "")
    yield line("  dense Kronecker solve of it", dense, f"{dense / ours[5]:.0f} times ours")
    scale = 64
    yield (
        f"  dense at 65,536 cells, by its law: {dense * scale**3 / 3600:.0f} hours, "
        f"{8 * 65_536**2 / 1e9:.0f} GB; {dense * scale**3 / ours[8]:.0e} times ours"
    )


def dense_solve(channels: list[Channel], table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The corrected table by the Kronecker matrix and LAPACK."""
    factors = [one.spread(np.eye(one.cardinality), axis=1) for one in channels]
    big: Any = np.ones((1, 1))
    for factor in factors:
        big = np.kron(big, factor)
    return np.asarray(np.linalg.solve(big.T, table.ravel()).reshape(table.shape), dtype=np.float64)


def matrices() -> Iterator[str]:
    """Covariances of all pairs with their errors."""
    names = [f"a{m}" for m in range(ATTRIBUTES)]
    allocation = bo.uniform(
        bo.Problem(
            attributes=[
                bo.Attribute(name, categories=CATEGORIES[m % len(CATEGORIES)], ordered=True)
                for m, name in enumerate(names)
            ],
            moments=[bo.CrossMoment(*pair) for pair in combinations(names, 2)],
            total_epsilon=2.0 * ATTRIBUTES,
        )
    )
    rng = np.random.default_rng(3)
    released = pa.table(
        {one.name: rng.integers(0, one.cardinality, MATRIX_ROWS) for one in allocation.attributes}
    )
    pairs = ATTRIBUTES * (ATTRIBUTES - 1) // 2
    for target in ("population", "data"):
        spent = seconds(partial(bo.estimate.covariance, released, allocation, *names, target=target), 1)
        yield line(
            f"covariances of {ATTRIBUTES} attributes, {target}",
            spent,
            f"{pairs:,} pairs, {MATRIX_ROWS:,} rows",
        )


def line(what: str, spent: float, beside: str) -> str:
    """A row of the table."""
    return f"{what:42} {spent * 1e3:10.2f} ms   {beside}".rstrip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", metavar="FOLDER", help=argparse.SUPPRESS)
    folder = parser.parse_args().count
    if folder is not None:
        count_folder(folder)
        return
    print("time of the CPU; the best of several runs")
    for part in (counting, reading, correcting, matrices):
        for row in part():
            print(row, flush=True)


if __name__ == "__main__":
    main()
