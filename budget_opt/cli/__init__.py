"""The command `budget-opt`: the same words as in Python, one file between two steps (DESIGN 4)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done, 1 a checked claim fails, 2 bad input, 3 infeasible, 4 not solved within the limits; 130 when
    it was interrupted.
    """
    try:
        return _answered(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was written before is whole, nothing is half written\n")
        return INTERRUPTED


def _answered(arguments: list[str]) -> int:
    """What `main` says, but for an interruption, which may come while the parts are still imported."""
    from budget_opt.cli.output import complain, complain_of_surprise, prepare
    from budget_opt.errors import BudgetOptError

    try:
        prepare()
        return _run(arguments)
    except BudgetOptError as error:
        return complain(error)
    except Exception as error:  # noqa: BLE001 - a traceback could show a cell, and 1 means a failed claim
        return complain_of_surprise(error)


def _run(arguments: list[str]) -> int:
    import typer

    from budget_opt.cli.app import parser
    from budget_opt.cli.option_names import as_typed
    from budget_opt.cli.output import note
    from budget_opt.errors import BudgetOptError, InputError

    try:
        code = parser()(args=arguments, standalone_mode=False)
    except InputError as error:
        raise as_typed(error, arguments) from error
    except typer.TyperException as error:
        command = "".join(f" {name}" for name in _command(arguments))
        # "Value error" are the words of a library of typer's
        note(f"{error.format_message().replace('Value error, ', '')}\nSee: budget-opt{command} --help")
        return BudgetOptError.exit_code
    except typer.Abort:
        # a command that keeps what is done returns the exit code, and has said what it keeps
        raise KeyboardInterrupt from None
    return int(code or 0)


def _command(arguments: list[str]) -> list[str]:
    """The words that name a command, as far as they can be its name."""
    words = arguments[: 2 if arguments[:1] == ["ledger"] else 1]
    return words if all(word.isalpha() for word in words) else words[:-1]
