"""How much a formula would expand to, before the parser does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.model.formulas.factor import FormulaError

if TYPE_CHECKING:
    from formulaic.parser.types import ASTNode, Token

MOST_PRODUCTS = 3_000
"""Terms that a part of a formula may expand to before equal ones are merged."""
LARGEST_POWER = 100


def require_few_products(tree: ASTNode | Token | None, names: int) -> None:
    """Refuse a formula such as `(a + b) ** 1000`, whose expansion would fill the memory.

    `names` is the number of attributes that "." may stand for.
    """
    terms: dict[int, int] = {}
    for node in reversed(_nodes(tree)):
        parts = [terms.get(id(part), 1) for part in node.args]
        terms[id(node)] = _terms(node, parts, names)
        if terms[id(node)] > MOST_PRODUCTS:
            raise FormulaError(
                f"expands to more than {MOST_PRODUCTS:,} terms", "Write the interactions that matter."
            )


def single_powers(tree: ASTNode | Token | None) -> list[Token]:
    """The factors that a formula raises to a power by themselves: x**2 is x, for a power multiplies terms."""
    from formulaic.parser.types import Token

    powers = (node.args[0] for node in _nodes(tree) if str(node.operator.symbol) in ("**", "^"))
    return [one for one in powers if isinstance(one, Token)]


def _nodes(tree: ASTNode | Token | None) -> list[ASTNode]:
    """The operators of a formula, parents before their parts."""
    from formulaic.parser.types import ASTNode

    nodes = [tree] if isinstance(tree, ASTNode) else []
    for node in nodes:  # grows while it is gone through
        nodes += [part for part in node.args if isinstance(part, ASTNode)]
    return nodes


def _terms(node: ASTNode, parts: list[int], names: int) -> int:
    """An upper bound on the terms of a node from those of its parts."""
    symbol = str(node.operator.symbol)
    if symbol == ".":
        return names
    if symbol in ("**", "^"):
        power = str(node.args[1])
        if not power.isdecimal() or len(power) > 3 or not 1 <= int(power) <= LARGEST_POWER:
            raise FormulaError(
                f"has a power that is no whole number from 1 to {LARGEST_POWER}",
                "Write (a + b)**2 for all pairs, I(a**2) for a square.",
            )
        return int(max(1, parts[0]) ** int(power))
    if symbol in ("*", "/", "in"):
        return parts[0] + parts[1] + parts[0] * parts[1]
    if symbol == ":":
        return parts[0] * parts[1]
    return sum(parts)
