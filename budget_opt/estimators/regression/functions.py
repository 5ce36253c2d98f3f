"""The value of one factor of a formula for every category, from the text's own syntax: nothing is ever run.

Only what stands in the tables below is understood; everything else is refused by name. A factor is a
function of one attribute, so its values are one number a category, whatever they are.
"""

from __future__ import annotations

import ast
import operator
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from budget_opt.estimators.channels import FloatArray
from budget_opt.model.formulas.factor import Factor, FormulaError, without_backquotes

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "I": operator.pos,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sqrt": np.sqrt,
}
_BETWEEN: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_BEFORE: dict[type[ast.AST], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def is_plain(factor: Factor) -> bool:
    """Whether the factor is an attribute itself."""
    return factor.attributes == (factor.text,)


def is_category_call(factor: Factor) -> bool:
    """Whether it is `C(x)`; `FormulaError` for `C` with more in it than one attribute."""
    if is_plain(factor) or not factor.text.startswith("C("):
        return False
    tree = _tree(factor)
    inner = tree.args if isinstance(tree, ast.Call) and not tree.keywords else []
    if len(inner) != 1 or not isinstance(inner[0], ast.Name):
        raise FormulaError(
            f"has {factor.text}, and C takes one attribute here and no options",
            "Write C(x): the first category of the domain is the reference.",
        )
    return True


def values_of(factor: Factor, scores: FloatArray) -> FloatArray:
    """The factor's value for every category, from the scores; `FormulaError` where it has none."""
    if is_plain(factor):
        return scores
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(_value(_tree(factor), factor, scores), dtype=np.float64)
    except RecursionError:
        raise FormulaError("has an expression that is too deep", "Write it shorter.") from None
    if not np.all(np.isfinite(found)):
        raise FormulaError(
            f"has {factor.text}, which is no finite number for some category's score",
            "Change the function, or the scores (scores=).",
        )
    return np.broadcast_to(found, scores.shape)


def _tree(factor: Factor) -> ast.expr:
    plain, _ = without_backquotes(factor.text)
    return ast.parse(plain, mode="eval").body


def _value(node: ast.expr, factor: Factor, scores: FloatArray) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return np.float64(number)  # whole numbers of Python could grow without end
        case ast.Name() if _is_attribute(node, factor):
            return scores
        case ast.UnaryOp() if type(node.op) in _BEFORE:
            return _BEFORE[type(node.op)](_value(node.operand, factor, scores))
        case ast.BinOp() if type(node.op) in _BETWEEN:
            return _BETWEEN[type(node.op)](
                _value(node.left, factor, scores), _value(node.right, factor, scores)
            )
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _BETWEEN:
            compared = _BETWEEN[type(sign)](_value(left, factor, scores), _value(right, factor, scores))
            return np.asarray(compared, dtype=np.float64)
        case ast.Call(args=[inner], keywords=[]) if _called(node) in _FUNCTIONS:
            return _FUNCTIONS[_called(node)](_value(inner, factor, scores))
    raise FormulaError(
        f"has {ast.unparse(node)} in {factor.text}, which is not understood here",
        f"Use + - * / **, comparisons and {', '.join(sorted(_FUNCTIONS))} of one attribute, C(x) for "
        "indicators, or give the values as scores (scores=).",
    )


def _called(node: ast.Call) -> str:
    """The name that is called, without the `np.` before it."""
    match node.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="np"), attr=name) if name != "I":
            return name
    return ""


def _is_attribute(node: ast.Name, factor: Factor) -> bool:
    """Python normalizes the letters of names; a name in backquotes stands under another."""
    _, quoted = without_backquotes(factor.text)
    name = factor.attributes[0]
    return quoted.get(node.id, node.id) in (name, unicodedata.normalize("NFKC", name))
