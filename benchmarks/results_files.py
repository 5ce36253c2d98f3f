"""What is kept of a run: a JSON file a part, and all of them as one table for reading."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.layout import LAYOUTS, joined, table
from budget_opt.version import __version__

FOLDER = Path(__file__).resolve().parent / "results"
_PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel", "pyscipopt")


@cache
def versions() -> dict[str, Any]:
    """Of everything that the times depend on; nothing that tells one machine from another of its kind."""
    found: dict[str, Any] = {"budget_opt": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    if found["pyscipopt"] is not None:
        from pyscipopt import Model

        found["scip"] = str(Model().version())
    return {**found, "system": f"{platform.system()} {platform.machine()}", "processors": os.cpu_count()}


def save(folder: Path, part: str, settings: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace the part's file, whole at every moment, and the table; a row stands on a line."""
    folder.mkdir(parents=True, exist_ok=True)
    head = {
        "part": part,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions(),
        "settings": dict(settings),
    }
    lines = ",\n".join(json.dumps(_short(row), allow_nan=False) for row in rows)
    opened = json.dumps(head, indent=1).removesuffix("\n}")
    _replace(folder / f"{part}.json", f'{opened},\n "rows": [\n{lines}\n]}}\n')
    _replace(folder / "solve.md", _all_parts(folder))


def _short(item: Any) -> Any:
    """Times to the microsecond, all else as it is."""
    if isinstance(item, dict):
        times = {"wall", "cpu", "seconds"}
        return {
            key: round(inner, 6) if key in times and isinstance(inner, float) else _short(inner)
            for key, inner in item.items()
        }
    return [_short(inner) for inner in item] if isinstance(item, list | tuple) else item


def _replace(path: Path, text: str) -> None:
    """Write a file under another name first, so that it is never there by half."""
    beside = path.with_suffix(f"{path.suffix}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _all_parts(folder: Path) -> str:
    shown = ["# Results of `benchmarks/solve.py`", "", "What is compared, and how: its docstring.", ""]
    for part, layout in LAYOUTS.items():
        path = folder / f"{part}.json"
        if not path.exists():
            continue
        document = json.loads(path.read_text("utf-8"))
        picture = ["![Growth of our time with M and K](growth.png)", ""] if part == "growth" else []
        listed = {**document["versions"], **document["settings"]}
        stated = ", ".join(f"{name} {value}" for name, value in listed.items() if value is not None)
        shown += [f"## {layout.title}", "", *picture, *table(layout, document["rows"]), ""]
        shown += [f"{document['date']}; {stated}.", ""]
    return joined(shown)
