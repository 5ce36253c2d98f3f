"""The columns of a regression: every one a product of functions of single columns of the release.

Coding of categories is that of formulaic and patsy: in a term, a factor without scores (or in `C(...)`) has
an indicator for each category but the first, which is the reference, and one for the first as well where no
other term of the formula spans what would be lost (Smith, patsy, "Coding categorical data", 2015).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from budget_opt.errors import Fault, InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.regression.functions import is_category_call, is_plain, values_of
from budget_opt.model.domain import Label
from budget_opt.model.formulas.factor import Factor, FormulaError
from budget_opt.model.formulas.marks import ModelTerm
from budget_opt.model.formulas.parsing import Model

INTERCEPT = "Intercept"
MOST_COLUMNS = 100
"""Columns of a regression: its errors need products of any two of them, for every row."""


@dataclass(frozen=True)
class Axis:
    """A column of the release as a formula sees it: labels and, if there are any, scores, both by code."""

    name: str
    labels: tuple[Label | None, ...]
    scores: FloatArray | None

    @property
    def texts(self) -> tuple[str, ...]:
        """The categories as they are printed: a label "missing" in quotes beside the missing category."""
        quoted = "missing" if None in self.labels else None
        return tuple(
            "missing" if label is None else repr(label) if label == quoted else str(label)
            for label in self.labels
        )


@dataclass(frozen=True)
class Column:
    """A column of the regression: the product of one function of the categories for each named column."""

    label: str
    functions: Mapping[str, FloatArray]


@dataclass(frozen=True)
class Columns:
    """The columns of a formula's right side in its order, the intercept first where there is one.

    `constant` says whether a constant is a sum of multiples of them, as with an intercept, or with indicators
    of all categories. `references` says which category is the reference, a text for each factor of
    indicators.
    """

    columns: tuple[Column, ...]
    intercept: bool
    constant: bool
    references: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What the coefficients are called."""
        return tuple(column.label for column in self.columns)


def columns_of(model: Model, axes: Mapping[str, Axis], formula: str) -> Columns:
    """The columns of a parsed formula; `InputError` for functions of several attributes, and for too many."""
    try:
        return _columns_of(model, axes)
    except FormulaError as failure:
        raise refused(formula, failure) from None


def refused(formula: str, failure: FormulaError) -> InputError:
    """The error for a formula that this regression cannot use."""
    return InputError.from_faults(
        [Fault("formula", formula, failure.limit, failure.remedy)], "the regression"
    )


def _columns_of(model: Model, axes: Mapping[str, Axis]) -> Columns:
    columns = [Column(INTERCEPT, {})] if model.intercept else []
    spanned: set[tuple[frozenset[Factor], frozenset[Factor]]] = set()
    one = (frozenset[Factor](), frozenset[Factor]())
    if model.intercept:
        spanned.add(one)
    references: dict[str, str] = {}
    for term in model.terms:
        categorical = tuple(factor for factor in term.factors if is_categorical(factor, axes))
        numeric = frozenset(term.factors).difference(categorical)
        for full in _codings(categorical, numeric, spanned):
            columns += _expanded(term, full, axes)
            if len(columns) > MOST_COLUMNS:
                raise FormulaError(
                    f"has more than {MOST_COLUMNS} columns", "Use fewer terms, or coarser categories."
                )
            for factor in full:
                if not full[factor]:
                    axis = axes[factor.attributes[0]]
                    references[factor.text] = f"reference of {factor.text}: {axis.texts[0]}"
    if one in spanned:
        _require_varying(columns)
    return Columns(tuple(columns), model.intercept, one in spanned, tuple(references.values()))


def _require_varying(columns: Iterable[Column]) -> None:
    """`FormulaError` for a column that is a constant, where there is one already."""
    for column in columns:
        if column.label != INTERCEPT and all(np.ptp(values) == 0 for values in column.functions.values()):
            raise FormulaError(
                f"has {column.label}, whose scores are all equal: a constant, a sum of multiples of others",
                "Give scores that differ, or leave it out.",
            )


def require_plain_products(term: ModelTerm) -> None:
    """`FormulaError` for a multiple of a term, for factors of several columns, and for C with options."""
    if term.numbers:
        raise FormulaError(
            f"has {':'.join(term.numbers)} times {term.text}",
            "Leave the number out: it divides the coefficient and changes nothing else.",
        )
    for factor in term.factors:
        if len(factor.attributes) != 1:
            raise FormulaError(
                f"has {factor.text}, which is a function of {len(factor.attributes)} attributes",
                "Only functions of one attribute can be used; write products as a:b.",
            )
        is_category_call(factor)


def function_of(factor: Factor, axes: Mapping[str, Axis]) -> FloatArray:
    """The factor's value for every category; `FormulaError` where the column has no scores."""
    axis = axes[factor.attributes[0]]
    if axis.scores is None:
        raise FormulaError(
            f"has {factor.text}, and {axis.name!r} has categories without scores",
            f'Write C({axis.name}), or give scores={{"{axis.name}": [one number a category]}}.',
        )
    return values_of(factor, axis.scores)


def is_categorical(factor: Factor, axes: Mapping[str, Axis]) -> bool:
    """Whether the factor stands for indicators of categories."""
    return is_category_call(factor) or (is_plain(factor) and axes[factor.attributes[0]].scores is None)


def _codings(
    categorical: tuple[Factor, ...],
    numeric: frozenset[Factor],
    spanned: set[tuple[frozenset[Factor], frozenset[Factor]]],
) -> Iterator[dict[Factor, bool]]:
    """Sets of factors with indicators that together span the term and nothing twice; True: all categories.

    All indicators of a factor span what it has without one, and what the term is without the factor.
    """
    missing: list[dict[Factor, bool]] = []
    for size in range(len(categorical) + 1):
        for part in combinations(categorical, size):
            if (numeric, frozenset(part)) not in spanned:
                spanned.add((numeric, frozenset(part)))
                missing.append(dict.fromkeys(part, False))
    while (pair := _absorbed(missing)) is not None:
        short, long, factor = pair
        missing.remove(short)
        missing[missing.index(long)] = {**long, factor: True}
    yield from missing


def _absorbed(
    codings: list[dict[Factor, bool]],
) -> tuple[dict[Factor, bool], dict[Factor, bool], Factor] | None:
    """A coding that another one with one factor more can take in, with all that factor's categories."""
    for short in codings:
        for long in codings:
            added = [factor for factor in long if factor not in short]
            same = all(long.get(factor) == full for factor, full in short.items())
            if same and len(added) == 1 and len(long) == len(short) + 1 and not long[added[0]]:
                return short, long, added[0]
    return None


def _expanded(term: ModelTerm, full: Mapping[Factor, bool], axes: Mapping[str, Axis]) -> Iterator[Column]:
    """A column for each combination of the categories of the factors with indicators."""
    choices = []
    for factor in term.factors:
        if factor in full:
            choices.append(_indicators(factor, full[factor], axes[factor.attributes[0]]))
        elif not is_categorical(factor, axes):
            choices.append([(factor.text, factor.attributes[0], function_of(factor, axes))])
    for chosen in product(*choices):
        functions: dict[str, FloatArray] = {}
        for _, name, values in chosen:
            functions[name] = functions[name] * values if name in functions else values
        yield Column(":".join(label for label, _, _ in chosen), functions)


def _indicators(factor: Factor, full: bool, axis: Axis) -> list[tuple[str, str, FloatArray]]:
    if len(axis.labels) > MOST_COLUMNS + 1:
        raise FormulaError(
            f"has {factor.text} with {len(axis.labels)} categories, more than {MOST_COLUMNS} columns",
            "Use coarser categories, or scores.",
        )
    codes, prefix = np.arange(len(axis.labels)), "" if full else "T."
    return [
        (
            f"{factor.text}[{prefix}{axis.texts[code]}]",
            axis.name,
            (codes == code).astype(np.float64),
        )
        for code in codes[0 if full else 1 :]
    ]
