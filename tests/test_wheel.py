"""The wheel is whole: the demo runs where there is no checkout."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PUBLIC = {"allocation.json", "released.csv", "manifest.json", "estimates.csv"}


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder, on a machine whose pip has an index."""
    folder = tmp_path_factory.mktemp("wheel")
    probe = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "probe", "hatchling"]
    if subprocess.run(probe, cwd=folder, capture_output=True, check=False).returncode != 0:
        pytest.skip("pip has no index here, so nothing can be installed into a fresh environment")
    return folder


@pytest.fixture(scope="module")
def wheel(folder: Path, root: Path) -> Path:
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        folder / "dist",
        root,
        cwd=folder,
    )
    (wheel,) = (folder / "dist").glob("budget_opt-*.whl")
    return wheel


@pytest.fixture(scope="module")
def programs(folder: Path, wheel: Path) -> Path:
    """The folder of the programs of a fresh environment with the wheel and its extra `demo`."""
    venv.create(folder / "venv")
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    # pip would compile every module of every dependency: most of its time, for a few commands
    into = ("--python", programs / "python", "install", "--quiet", "--no-compile", f"{wheel}[demo]")
    run(sys.executable, "-m", "pip", *into, cwd=folder)
    return programs


@pytest.fixture(scope="module")
def demo(folder: Path, programs: Path) -> Path:
    """What `budget-opt demo` wrote, called from an empty folder."""
    empty = folder / "empty"
    empty.mkdir()
    run(programs / "budget-opt", "demo", "--out", "written", cwd=empty)
    assert [path.name for path in empty.iterdir()] == ["written"]
    return empty / "written"


def test_the_demo_of_an_installed_wheel_writes_everything_that_it_promises(demo: Path) -> None:
    assert (demo / "problem.json").is_file()
    assert {path.name for path in (demo / "public").iterdir()} >= PUBLIC
    assert list((demo / "public").glob("*.png")) or list((demo / "public").glob("*.svg"))
    assert [path.name for path in (demo / "internal").iterdir()] == ["verification.json"]


def test_the_demo_releases_as_many_records_as_the_survey_has(demo: Path) -> None:
    with (demo / "public" / "released.csv").open(newline="", encoding="utf-8") as file:
        assert sum(1 for _ in csv.DictReader(file)) == 9822


def test_what_the_demo_computed_from_the_originals_says_that_it_stays(demo: Path) -> None:
    internal = json.loads((demo / "internal" / "verification.json").read_text(encoding="utf-8"))
    assert internal["releasable"] is False
    assert json.loads((demo / "public" / "manifest.json").read_text(encoding="utf-8"))["private"] is True


def test_the_installed_commands_accept_what_the_demo_wrote(demo: Path, programs: Path) -> None:
    command = programs / "budget-opt"
    run(command, "check", "problem.json", cwd=demo)
    run(command, "verify", "public/allocation.json", "--problem", "problem.json", cwd=demo)


def test_the_installed_command_writes_a_report(demo: Path, programs: Path) -> None:
    """Its templates, style and scripts are in the wheel."""
    run(programs / "budget-opt", "report", "public/allocation.json", "-o", "report.html", cwd=demo)
    page = (demo / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert '"use strict";' in page


def test_the_wheel_carries_its_types_and_its_licence(programs: Path, folder: Path) -> None:
    code = """if True:
        import importlib.metadata as metadata, importlib.resources as resources
        print(resources.files("budget_opt").joinpath("py.typed").is_file())
        print(metadata.metadata("budget-opt")["License-Expression"])
        print(any(str(file).endswith("licenses/LICENSE") for file in metadata.files("budget-opt")))
    """
    assert run(programs / "python", "-c", code, cwd=folder).split() == ["True", "Apache-2.0", "True"]
