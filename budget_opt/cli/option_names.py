"""Errors about arguments of the Python functions, said with the options that people type."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence

import typer

from budget_opt.cli.app import app
from budget_opt.errors import InputError

_PYTHON = {"whatif": {"total_epsilon": "--epsilon"}, "show": {"priors": "--prior"}}
"""Options that are named otherwise than the argument, by command."""
_NAMED = re.compile(r"(\w+)(?=: )")
_GIVEN = re.compile(r"\b(\w+)=\"(\w+)\"")
"""How a way out names an argument with its word: target="data"."""


def as_typed(error: InputError, arguments: Sequence[str]) -> InputError:
    """The same error, its argument named as the option: `--time-limit: is -1` for `time_limit: is -1`.

    `arguments` are those of the command line, the command's name first.
    """
    options = _options(arguments)
    text = _GIVEN.sub(lambda one: f"{options[one[1]]} {one[2]}" if one[1] in options else one[0], str(error))
    found = _NAMED.match(text)
    if found is not None and found[1] in options:
        text = f"{options[found[1]]}{text[found.end() :]}"
    if text == str(error):
        return error
    said = copy.copy(error)
    said.args = (text,)
    return said


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Options of the command by the names that they have in Python."""
    command, named = typer.main.get_command(app), list(arguments)
    # a command of commands, such as ledger, is followed by one of them
    while commands := getattr(command, "commands", {}):
        if not named or named[0] not in commands:
            return {}
        command = commands[named.pop(0)]
    stated = {
        parameter.name: max(parameter.opts, key=len)
        for parameter in command.params
        if parameter.param_type_name == "option"
    }
    return stated | _PYTHON.get(arguments[0], {})
