"""The command `budget-opt`: the same words as in Python, one file between two steps (DESIGN 4)."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done, 1 a checked claim fails, 2 bad input, 3 infeasible, 4 not solved within the limits.
    """
    import typer

    from budget_opt.cli.app import app
    from budget_opt.cli.output import INTERRUPTED, complain, note
    from budget_opt.errors import BudgetOptError

    try:
        code = app(args=list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
    except BudgetOptError as error:
        return complain(error)
    except typer.TyperException as error:
        note(f"{error.format_message()} See: budget-opt --help")
        return BudgetOptError.exit_code
    except (typer.Abort, KeyboardInterrupt):
        note("interrupted: nothing was written")
        return INTERRUPTED
    return int(code or 0)
