"""The command `budget-opt`: the same words as in Python, one file between two steps (DESIGN 4)."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done, 1 a checked claim fails, 2 bad input, 3 infeasible, 4 not solved within the limits; 130 when
    it was interrupted.
    """
    from budget_opt.cli.output import INTERRUPTED, complain, complain_of_surprise, note, prepare
    from budget_opt.errors import BudgetOptError

    try:
        prepare()
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
    except BudgetOptError as error:
        return complain(error)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a traceback could show a cell, and 1 means a failed claim
        return complain_of_surprise(error)
    if code == INTERRUPTED:
        note("interrupted; what was written before is whole, nothing is half written")
    return code


def _run(arguments: list[str]) -> int:
    import typer

    from budget_opt.cli.app import app
    from budget_opt.cli.output import INTERRUPTED, note
    from budget_opt.errors import BudgetOptError

    try:
        code = app(args=arguments, standalone_mode=False)
    except typer.TyperException as error:
        command = f" {arguments[0]}" if arguments and arguments[0].isalpha() else ""
        note(f"{error.format_message()}\nSee: budget-opt{command} --help")
        return BudgetOptError.exit_code
    except typer.Abort:
        return INTERRUPTED
    return int(code or 0)
