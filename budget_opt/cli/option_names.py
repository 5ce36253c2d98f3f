"""Errors about arguments of the Python functions, said with the options that people type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from budget_opt.cli.app import parser
from budget_opt.errors import InputError

_PYTHON = {"whatif": {"total_epsilon": "--epsilon"}, "show": {"priors": "--prior"}}
"""Options that are named otherwise than the argument, by command."""
_NAMED = re.compile(r"(\w+)(?=: )")
_GIVEN = re.compile(r"\b(\w+)=(?:\"(\w+)\"|math\.(inf)\b|(\d[\d.]*(?:e[+-]?\d+)?)(?<!\.))")
"""How a way out names an argument with its word or number: target="data", noise_limit=2.5."""
_SCORES = re.compile(r"\bscores=\{\"([^\"]+)\": \[([^]]+)\]\}")
"""How it names scores: scores={"income": [one number a category]}."""
_SCORES_BY_VALUE = re.compile(r"\bscores=\{\"([^\"]+)\": \{([^}]+)\}\}")
"""Of a public column: scores={"wave": {"first": 0, "second": 1}}."""
_CALLED = re.compile(r"\bestimate\.(\w+)\(released, allocation, '([^']+)'\)")
"""How it names another estimate of one attribute: estimate.marginals(released, allocation, 'income')."""
_OTHERWISE = {"estimate": {'family="linear"': "--regress", 'family="logistic"': "--logistic"}}
"""Words that are an option of their own, by command."""


def as_typed(error: InputError, arguments: Sequence[str]) -> InputError:
    """The same error, its argument named as the option: `--time-limit: is -1` for `time_limit: is -1`.

    `arguments` are those of the command line, the command's name first.
    """
    options = _options(arguments)
    text = str(error)
    for python, option in _OTHERWISE.get(arguments[0], {}).items():
        text = text.replace(python, option)
    text = _CALLED.sub(lambda one: f"{options[one[1]]} {one[2]}" if one[1] in options else one[0], text)
    text = _GIVEN.sub(lambda one: _typed(one, options), text)
    if "scores" in options:
        text = _SCORES.sub(lambda one: f'--scores "{one[1]}={_numbers(one[2])}"', text)
        text = _SCORES_BY_VALUE.sub(lambda one: f'--scores "{one[1]}={_pairs(one[2])}"', text)
    found = _NAMED.match(text)
    if found is not None and found[1] in options:
        text = f"{options[found[1]]}{text[found.end() :]}"
    return error if text == str(error) else error.reworded(text)


def _typed(one: re.Match[str], options: Mapping[str, str]) -> str:
    """An argument with its word as an option; as it is where it is none."""
    word = one[2] or one[3] or one[4]
    return f"{options[one[1]]} {word}" if one[1] in options else one[0]


def _numbers(listed: str) -> str:
    """The numbers of a list as they are typed; what is said of them stays."""
    return listed.replace(", ", ",")


def _pairs(listed: str) -> str:
    """The pairs of a mapping of values as they are typed."""
    return listed.replace(", ", ",").replace(": ", ":").replace('"', "")


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Options of the command by the names that they have in Python."""
    command, named = parser(), list(arguments)
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
