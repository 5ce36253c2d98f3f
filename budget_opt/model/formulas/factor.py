"""The attributes that one factor of a formula is a function of, read from its text and never evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from budget_opt.model.parts import nearest

_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`([^`]*)`", re.DOTALL)
"""Text in quotes, which stays as it is, or a name in backquotes."""
_OF_OTHER_RECORDS = {"lag", "shift", "diff", "cumsum", "cumprod", "rolling", "expanding"}
_NOT_PLAIN = (ast.Lambda, ast.NamedExpr, ast.comprehension, ast.JoinedStr, ast.Await, ast.Yield)


class FormulaError(ValueError):
    """A formula that cannot be used: `limit` says why, `remedy` what to do."""

    def __init__(self, limit: str, remedy: str) -> None:
        super().__init__(limit)
        self.limit, self.remedy = limit, remedy


@dataclass(frozen=True)
class Factor:
    """A factor as it is written, such as "log(income)", and its attributes in the order of appearance."""

    text: str
    attributes: tuple[str, ...]


def name_factor(name: str, names: Sequence[str] | None) -> Factor:
    """The factor that is an attribute itself; `names` are those that there are, None for any."""
    _require_known([name], names)
    return Factor(name, (name,))


def code_factor(code: str, names: Sequence[str] | None, words: Collection[str]) -> Factor:
    """The factor of a Python expression such as `bs(age, df=3)`.

    A name is an attribute unless it is called, like `log` in log(age), or is one of the `words` of the
    formula language, like `np`, and none of `names`. Raises `FormulaError`.
    """
    plain, quoted = without_backquotes(code)
    try:
        tree = ast.parse(plain, mode="eval")
        text = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"has {_short(code)}, which is no expression", "Correct it there.") from None
    for stand_in, name in quoted.items():
        text = text.replace(stand_in, f"`{name}`")
    known = names or ()
    found = [
        quoted.get(name, name)
        for name in _values_in(tree, plain)
        if name in quoted or name in known or name not in words
    ]
    found += _names_in_q(tree, code)
    _require_known(found, names)
    return Factor(text, tuple(dict.fromkeys(found)))


def _short(code: str) -> str:
    return repr(code if len(code) <= 60 else f"{code[:57]}...")


def without_backquotes(code: str) -> tuple[str, dict[str, str]]:
    """The code with plain identifiers for names in backquotes, and what each of them stands for."""
    prefix = "_name"
    while prefix in code:
        prefix += "_"
    quoted: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        quoted[f"{prefix}{len(quoted)}_"] = match[1]
        return list(quoted)[-1]

    return _QUOTED.sub(stand_in, code), quoted


def _values_in(tree: ast.Expression, code: str) -> Iterator[str]:
    """Names that stand for values, as they are written: Python itself would normalize their letters."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, _NOT_PLAIN):
            raise FormulaError(
                f"has {_short(code)}, which makes names or text of its own",
                "Use attributes and functions of them.",
            )
        if {getattr(node, "id", None), getattr(node, "attr", None)} & _OF_OTHER_RECORDS:
            raise FormulaError(
                f"has {_short(code)}, which takes values of other records",
                "Every factor must be a function of the record's own values.",
            )
        if isinstance(node, ast.Name) and node not in called:
            yield ast.get_source_segment(code, node) or node.id


def _names_in_q(tree: ast.Expression, code: str) -> Iterator[str]:
    """The names that `Q("my income")` quotes, as in patsy."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Q":
            if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and not node.keywords:
                yield str(node.args[0].value)
            else:
                raise FormulaError(f"has {_short(code)}, where Q has no name", 'Write Q("name"), or `name`.')


def _require_known(found: Iterable[str], names: Sequence[str] | None) -> None:
    for name in found:
        if names is not None and name not in names:
            near = nearest(name, names)
            hint = f'Did you mean "{near}"?' if near else f"Attributes are {', '.join(names)}."
            raise FormulaError(f"has {name!r}, which is not an attribute", hint)
