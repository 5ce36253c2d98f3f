"""How commands speak: tables or JSON on standard output, errors in one paragraph on standard error."""

from __future__ import annotations

import io
import json
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from budget_opt.errors import BudgetOptError


def out(content: RenderableType | str) -> None:
    """Print for people; no markup is read in names, so that a name cannot style the page."""
    wrap = isinstance(content, str)
    if sys.stdout.isatty():
        Console(soft_wrap=wrap, highlight=False, markup=False).print(content)
        return
    # a pipe or file has no width of its own, and nobody wants the blanks that fill a line
    page = io.StringIO()
    Console(file=page, width=100, soft_wrap=wrap, highlight=False, markup=False).print(content)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines()))


def out_json(document: Mapping[str, Any] | list[Any]) -> None:
    """Print strict JSON."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=plain, allow_nan=False) + "\n")


def complain(error: BudgetOptError) -> int:
    """The error on standard error; returns the exit code of DESIGN 4."""
    sys.stderr.write(f"{type(error).__name__}: {error}\n")
    return error.exit_code


def complain_of_surprise(error: Exception) -> int:
    """An error that nobody foresaw: its type and place, never its text, which could hold a cell."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}"
    note(
        f"unexpected {type(error).__name__} ({place}); nothing was released. Its text is not shown, as it "
        "could hold data. Please report the command and this line."
    )
    return BudgetOptError.exit_code


def prepare() -> None:
    """Make output possible everywhere, and an ending by signal as orderly as Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)


def note(text: str) -> None:
    """A line on standard error that is not part of the result."""
    sys.stderr.write(text + "\n")
