"""How long verification takes, and how much memory: CPU seconds on one thread, peak of a process of its own.

    python benchmarks/verify.py release       1 and 10 million rows x 20 attributes, all 190 pairs; 3 minutes
    python benchmarks/verify.py static        1,000 attributes, 100,000 moments, 10,000 floors; 2 minutes

Static: reading, then `bo.verify` of the file alone, with its problem, and with a certificate of its bound.
Release: a sound one is made first, both tables as Parquet files; measured is `bo.verify_release` on the two
paths, with reading and decoding, and the judge alone on codes, as it runs inside `randomize --internal`.
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
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

import budget_opt as bo
from budget_opt.allocation import Statement, allocate
from budget_opt.api.certifying import certified as certify_file
from budget_opt.api.certifying import with_margin
from budget_opt.certificate.certify import certify

Answer = TypeVar("Answer")
STATIC_ATTRIBUTES, STATIC_MOMENTS, STATIC_FLOOR = 1_000, 100_000, 1e-9
ROWS = (1_000_000, 10_000_000)
ATTRIBUTES = 20
CATEGORIES = (2, 3, 4, 5, 8)
_BATCH = 2**18

Columns = dict[str, npt.NDArray[np.uint8]]


def allocation_of(attributes: int) -> bo.Allocation:
    """The even split of epsilon 1 an attribute, with all pairs as moments."""
    names = [f"a{i}" for i in range(attributes)]
    problem = bo.Problem(
        attributes=[
            bo.Attribute(name, categories=CATEGORIES[i % len(CATEGORIES)], ordered=True)
            for i, name in enumerate(names)
        ],
        moments=[bo.CrossMoment(*pair) for pair in combinations(names, 2)],
        total_epsilon=float(attributes),
    )
    return bo.uniform(problem)


def batch_of(allocation: bo.Allocation, random: np.random.Generator, rows: int) -> tuple[Columns, Columns]:
    """Originals and a sound release of them."""
    original, released = {}, {}
    for attribute in allocation.attributes:
        r = attribute.cardinality
        truth = random.integers(0, r, rows, dtype=np.uint8)
        keep = random.random(rows) < float(attribute.exact_retention)
        original[attribute.name] = truth
        released[attribute.name] = np.where(keep, truth, random.integers(0, r, rows, dtype=np.uint8))
    return original, released


def make_tables(allocation: bo.Allocation, folder: Path, rows: int) -> None:
    """original.parquet and released.parquet of codes."""
    random = np.random.default_rng(rows)
    schema = pa.schema([(attribute.name, pa.int64()) for attribute in allocation.attributes])
    with (
        parquet.ParquetWriter(folder / "original.parquet", schema) as originals,
        parquet.ParquetWriter(folder / "released.parquet", schema) as reports,
    ):
        for start in range(0, rows, _BATCH):
            sides = batch_of(allocation, random, min(_BATCH, rows - start))
            for writer, side in zip((originals, reports), sides, strict=True):
                writer.write_table(pa.table(side).cast(schema))


def judge_files(folder: Path) -> None:
    """In a process of its own: judge the two tables of a folder, and print what it took as JSON."""
    allocation = bo.Allocation.read(folder / "allocation.json")
    start = time.process_time()
    report = bo.verify_release(allocation, folder / "original.parquet", folder / "released.parquet")
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "holds": report.holds}))


def judge_codes(allocation: bo.Allocation, rows: int) -> float:
    """CPU seconds of the judge alone, batch by batch."""
    from budget_opt.verifier.release import ReleaseJudge

    random, seconds = np.random.default_rng(1), 0.0
    judge = ReleaseJudge(allocation)
    for first in range(0, rows, _BATCH):
        batch = batch_of(allocation, random, min(_BATCH, rows - first))
        start = time.process_time()
        judge.add(*batch)
        seconds += time.process_time() - start
    start = time.process_time()
    judge.report().require()
    return seconds + time.process_time() - start


def release() -> int:
    """Print a line for each number of rows; 1 where a sound release fails."""
    allocation = allocation_of(ATTRIBUTES)
    failures = 0
    print(f"{ATTRIBUTES} attributes, {len(allocation.moments)} moments; CPU seconds, peak in MB")
    print(f"{'rows':>12}  {'judge alone':>11}  {'from Parquet':>12}  {'peak':>6}")
    for rows in ROWS:
        alone = judge_codes(allocation, rows)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            allocation.write(folder / "allocation.json")
            make_tables(allocation, folder, rows)
            command = [sys.executable, __file__, "--judge", str(folder)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        failures += not found["holds"]
        print(f"{rows:12,}  {alone:11.1f}  {found['seconds']:12.1f}  {found['peak_mb']:6.0f}", flush=True)
    return 1 if failures else 0


def large_problem(objective: str) -> bo.Problem:
    """1,000 attributes of 2 to 29 categories, 100,000 moments of three, a tenth of them with a floor."""
    random = np.random.default_rng(1)
    sizes = random.integers(2, 30, STATIC_ATTRIBUTES).tolist()
    drawn = random.integers(0, STATIC_ATTRIBUTES, (2 * STATIC_MOMENTS, 3)).tolist()
    members = sorted({tuple(sorted(names)) for names in drawn if len(set(names)) == 3})[:STATIC_MOMENTS]
    return bo.Problem(
        attributes=[bo.Attribute(f"a{i}", categories=r) for i, r in enumerate(sizes)],
        moments=[
            bo.CrossMoment(
                *(f"a{i}" for i in names), weight=1.0 + k % 9, floor=None if k % 10 else STATIC_FLOOR
            )
            for k, names in enumerate(members)
        ],
        total_epsilon=float(STATIC_ATTRIBUTES),
        objective=objective,
    )


def certified(objective: str, folder: Path) -> None:
    """allocation.json, problem.json and proof.zip of the even split with the bound of one evaluation."""
    problem = large_problem(objective)
    epsilon = bo.uniform(problem).epsilons
    certificate = certify(problem.arrays, epsilon, proceed=lambda: False)
    place = folder / "proof.zip"
    bound = with_margin(problem, certificate).bound
    made = allocate(problem, epsilon, Statement(bound=bound, solver="even split"))
    problem.write(folder / "problem.json")
    certify_file(made, problem, certificate, place).write(folder / "allocation.json")


def static() -> int:
    """Print CPU seconds for each objective and each thing that is given; 1 where a sound file fails."""
    failures = 0
    print(f"{STATIC_ATTRIBUTES:,} attributes, {STATIC_MOMENTS:,} moments; CPU seconds")
    print(f"{'objective':>15}  {'reading':>8}  {'file alone':>10}  {'problem':>8}  {'certificate':>11}")
    for objective in ("geometric_mean", "weighted_sum"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            certified(objective, folder)
            allocation, reading = timed(partial(bo.Allocation.read, folder / "allocation.json"))
            problem = bo.Problem.read(folder / "problem.json")
            unknown = replace(allocation, problem_sha256="0" * 64)
            alone, first = timed(partial(bo.verify, unknown))
            asked, second = timed(partial(bo.verify, allocation, problem))
            proved, third = timed(partial(bo.verify, allocation, problem, folder / "proof.zip"))
        failures += not (alone.holds and asked.holds and proved.holds)
        print(f"{objective:>15}  {reading:8.1f}  {first:10.1f}  {second:8.1f}  {third:11.1f}", flush=True)
    return 1 if failures else 0


def timed(verb: Callable[[], Answer]) -> tuple[Answer, float]:
    """What a verb returns, and the CPU seconds that it takes."""
    start = time.process_time()
    answer = verb()
    return answer, time.process_time() - start


WHAT = {"release": release, "static": static}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=[*WHAT], help="default: all")
    parser.add_argument(
        "--judge", type=Path, metavar="FOLDER", help="used by release: judge one pair of tables"
    )
    arguments = parser.parse_args()
    if arguments.judge is not None:
        judge_files(arguments.judge)
        return 0
    return max(WHAT[what]() for what in ([arguments.what] if arguments.what else WHAT))


if __name__ == "__main__":
    sys.exit(main())
