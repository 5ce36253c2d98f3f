"""Does the test suite notice a faulty package? It must fail on every mutant of `faults/` (R9).

    python benchmarks/mutants.py                  all of them, two at a time: about an hour
    python benchmarks/mutants.py --only keyed     those whose name or file has this in it: ledger/, verifier/
    python benchmarks/mutants.py --list           their names

Each mutant is a copy of the package with one small change of its source, on which tests run until one
fails: first those that the list names for it, fast ones before slow ones, then the fast ones of the
randomizer, the tables and the mechanisms. Printed is the test that killed it, or that it survived; the exit
code is 1 where one survived. A change whose text does not stand exactly once in its source, or fast tests
that fail without a change, stop the command (exit code 2), so that the list cannot rot in silence. Where
the tests do not end, the time limit has killed it.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.mutations import Mutation, NoMutantError, all_mutations, mutated, require_all  # noqa: E402

COPIED = ("budget_opt", "tests", "benchmarks", "problems", "pyproject.toml", "README.md")
TESTS = ("tests/randomizer", "tests/tables", "tests/mechanisms")
SECONDS = 600
ALL_PASSED, SOME_FAILED, NONE_SO_MARKED = 0, 1, 5
"""Exit codes of pytest; every other one means that it could not run the tests."""


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant: the test that failed, or None where all passed."""

    mutation: Mutation
    killer: str | None
    seconds: float

    def __str__(self) -> str:
        outcome = "SURVIVED" if self.killer is None else f"killed by {self.killer}"
        return f"{self.mutation.name}: {outcome} ({self.seconds:.0f} s)"


def copy_of_the_package(folder: Path) -> Path:
    """A copy of what the tests need."""
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "results"))
        else:
            shutil.copy(source, folder / name)
    return folder


@contextmanager
def change(root: Path, mutation: Mutation) -> Iterator[None]:
    """The change in the copy at `root`, taken back at the end."""
    path = root / mutation.path
    source = path.read_text(encoding="utf-8")

    def write(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # compiled files are told apart by second and size, which a change may leave as they were
        Path(cache_from_source(path)).unlink(missing_ok=True)

    write(mutated(source, mutation))
    try:
        yield
    finally:
        write(source)


def first_failure(root: Path, tests: Sequence[str], marked: str = "not slow") -> str | None:
    """The first of these tests, so `marked`, that fails in the copy at `root`; None where none does.

    Raises `NoMutantError` where pytest cannot run them.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", marked, "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "300"}
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the time limit of {SECONDS} s"
    if done.returncode not in {ALL_PASSED, SOME_FAILED, NONE_SO_MARKED}:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        raise NoMutantError(f"pytest ended with {done.returncode}:\n{said}")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].removeprefix("FAILED ").partition(" - ")[0] if failed else None


def judge(mutation: Mutation, copies: queue.Queue[Path]) -> Verdict:
    """Run the tests on one mutant, in a copy that nobody else uses meanwhile."""
    root, start = copies.get(), time.monotonic()
    try:
        with change(root, mutation):
            killer = (
                first_failure(root, mutation.tests)
                or first_failure(root, mutation.tests, "slow")
                or first_failure(root, TESTS)
            )
    except NoMutantError as failure:
        raise NoMutantError(f"{mutation.name}: {failure}") from None
    finally:
        copies.put(root)
    return Verdict(mutation, killer, time.monotonic() - start)


def run(mutations: Sequence[Mutation], jobs: int) -> int:
    """Judge all mutants, a line each; the exit code."""
    require_all(ROOT, mutations)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as threads:
        roots = [copy_of_the_package(Path(folder) / str(job)) for job in range(jobs)]
        named = sorted({test for mutation in mutations for test in mutation.tests})
        if (failure := first_failure(roots[0], named)) is not None:
            raise NoMutantError(f"the tests fail without a change: {failure}")
        copies: queue.Queue[Path] = queue.Queue()
        for root in roots:
            copies.put(root)
        verdicts = []
        try:
            for done in as_completed([threads.submit(judge, mutation, copies) for mutation in mutations]):
                verdicts.append(done.result())
                print(verdicts[-1], flush=True)
        finally:
            threads.shutdown(cancel_futures=True)
    survivors = [verdict.mutation.name for verdict in verdicts if verdict.killer is None]
    print(f"{len(verdicts) - len(survivors)} of {len(verdicts)} mutants are killed")
    return 1 if survivors else 0


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="part of the name or file of the mutants to run")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at a time")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    options = parser.parse_args()
    chosen = [mutation for mutation in all_mutations() if options.only in mutation.name + " " + mutation.path]
    if not chosen:
        print(f"no name has {options.only!r} in it: see --list", file=sys.stderr)
        return 2
    if options.list:
        print(*(mutation.name for mutation in chosen), sep="\n")
        return 0
    try:
        return run(chosen, options.jobs)
    except NoMutantError as failure:
        print(failure, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
