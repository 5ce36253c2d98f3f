"""Marks in the place of the factors of a formula, so that its parser sees structure and no code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from budget_opt.model.formulas.factor import Factor, FormulaError, code_factor, name_factor

if TYPE_CHECKING:
    from formulaic.parser.types import Term, Token

_SIGN = "\x1f"
"""No attribute has it in its name, and no formula that can be read."""


@dataclass(frozen=True)
class ModelTerm:
    """A term of a formula as text, such as "education:age", and the attributes that it is a function of.

    `factors` are what it is a product of, in order; `numbers` scale it, and are no part of what it is.
    """

    text: str
    attributes: frozenset[str]
    factors: tuple[Factor, ...] = ()
    numbers: tuple[str, ...] = field(default=(), compare=False)


class Marks:
    """The factors of one formula by number; `names` are the attributes it may use, None for any.

    `words` are the names of the formula language itself.
    """

    def __init__(self, names: Sequence[str] | None, words: Collection[str]) -> None:
        self._names, self._words = names, words
        self._numbers: dict[Factor, int] = {}
        self._written: set[str] = set()
        self._has_others = False
        self._before_tilde = True
        self._response: set[str] = set()

    def word(self, token: Token) -> str:
        """A token of the formula as it stands in the marked one."""
        kind, text = "" if token.kind is None else token.kind.value, str(token.token)
        if text == ".":
            if self._names is None:
                raise FormulaError('has "." for all other attributes', "Give their names as well.")
            self._has_others = True
        if kind in ("name", "python"):
            factor = (
                name_factor(text, self._names)
                if kind == "name"
                else code_factor(text, self._names, self._words)
            )
            self._written.update(factor.attributes)
            if self._before_tilde:
                self._response.update(factor.attributes)
            return self._mark(factor)
        if kind == "operator":
            self._before_tilde = self._before_tilde and "~" not in text
            # the signs around a word such as %in% are not in the token
            return f"%{text}%" if text.isidentifier() else text
        return text

    def others(self) -> list[str]:
        """The marks of all attributes that the response is no function of: what "." stands for."""
        others = [name for name in self._names or () if name not in self._response]
        return [self._mark(name_factor(name, None)).strip("`") for name in others]

    def unused(self, terms: Iterable[ModelTerm]) -> tuple[str, ...]:
        """The attributes that the formula names and that none of its terms has; none where "." has some."""
        used = frozenset[str]().union(*(term.attributes for term in terms))
        return () if self._has_others else tuple(sorted(self._written - used))

    def term(self, term: Term) -> ModelTerm:
        """A term of marks as one of factors; numbers, which scale it, are no part of its text."""
        listed = list(self._numbers)
        marks = [factor.expr.removeprefix(_SIGN) for factor in term.factors if _SIGN in factor.expr]
        numbers = tuple(factor.expr for factor in term.factors if _SIGN not in factor.expr)
        factors = tuple(listed[int(mark)] for mark in marks)
        attributes = frozenset(name for factor in factors for name in factor.attributes)
        return ModelTerm(":".join(factor.text for factor in factors), attributes, factors, numbers)

    def attributes(self) -> tuple[str, ...]:
        """All attributes in the order in which the formula names them first."""
        return tuple(dict.fromkeys(name for factor in self._numbers for name in factor.attributes))

    def plain(self, marked: object) -> str:
        """The first line of a part of a formula or of the parser's message, with factors for their marks."""
        listed = list(self._numbers)
        message = str(marked).split("\n", maxsplit=1)[0].rstrip(".")
        return re.sub(f"{_SIGN}([0-9]+)", lambda mark: listed[int(mark[1])].text, message)

    def _mark(self, factor: Factor) -> str:
        return f"`{_SIGN}{self._numbers.setdefault(factor, len(self._numbers))}`"
