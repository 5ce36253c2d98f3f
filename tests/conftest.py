"""What every test may use: reference files, hypothesis profiles, a plot backend without a screen."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

os.environ["MPLBACKEND"] = "Agg"  # before anything imports matplotlib, here or in a child process

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run, so that a stranger sees what CI saw. HYPOTHESIS_PROFILE=explore draws new
# ones, and more.
hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, print_blob=True, max_examples=40
)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=200)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


SPARK = "tests/engines/test_spark"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """`--dist loadfile` with Spark's files in one process, so that its cluster is started once, and first.

    What is long comes first, so that no core waits at the end: xdist takes files with many tests for long.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return SPARK if nodeid.startswith(SPARK) else super()._split_scope(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            if SPARK in self.workqueue:
                self.workqueue.move_to_end(SPARK, last=False)
            super()._assign_work_unit(node)

    return Scheduling(config, log)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return ROOT


def _beside_the_checkout(*parts: str) -> Path:
    folder = ROOT.parent.joinpath("shared", *parts)
    if not folder.is_dir():
        pytest.skip(f"reference files that are not part of the repository are not at {folder}")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the reference tables, which stay out of the repository; skips where it is absent."""
    return _beside_the_checkout("data")


@pytest.fixture(scope="session")
def shared_instances() -> Path:
    """The folder of the reference problems with known optimum; skips where it is absent."""
    return _beside_the_checkout("instances")


@pytest.fixture
def run_module(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python ARGUMENTS` with the package under test, in a fresh interpreter and an empty folder."""

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "110", "NO_COLOR": "1"}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    return run


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """No figure of one test is left open for the next."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
