"""A formula and a release brought together: the columns of a regression, and its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budget_opt.errors import InputError, ProblemError
from budget_opt.estimators.channels import Channel, FloatArray, uniform
from budget_opt.estimators.moments.designs import designs_of, scores_by_name
from budget_opt.estimators.regression.functions import is_category_call
from budget_opt.estimators.regression.terms import (
    Axis,
    Columns,
    columns_of,
    refused,
    require_plain_products,
)
from budget_opt.estimators.releases.compacting import compacted
from budget_opt.estimators.releases.counting import Cells
from budget_opt.estimators.releases.naming import require_known
from budget_opt.estimators.releases.released import Released, Weight, open_released
from budget_opt.model.formulas.factor import FormulaError
from budget_opt.model.formulas.parsing import Model, parse_formula
from budget_opt.tables.counting import AnyCodes

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


@dataclass(frozen=True)
class Opened:
    """What a regression works on: `channels` and the codes of `cells` are in the order of `model.attributes`.

    `axes` say what the codes stand for. `notes` is what was said of the counting.
    """

    formula: str
    model: Model
    columns: Columns
    axes: Mapping[str, Axis]
    channels: tuple[Channel, ...]
    cells: Cells
    notes: tuple[str, ...]

    @property
    def outcome(self) -> Axis:
        """The column of the outcome."""
        (name,) = self.model.response.attributes
        return self.axes[name]


def opened(
    released: Any,
    allocation: Allocation,
    formula: str,
    *,
    scores: Mapping[str, Sequence[float]] | None,
    weight: Weight,
    categories: bool,
) -> Opened:
    """The columns of the formula, read from the release; with `categories` the outcome is no number.

    Raises `InputError` for a formula that this regression cannot use, and what `open_released` raises.
    """
    names = [*(one.name for one in allocation.attributes), *allocation.public]
    model = model_of(formula, names, categories=categories)
    given = scores_by_name(scores)
    randomized = [one.name for one in allocation.attributes if one.name in model.attributes]
    if not randomized:
        raise InputError(
            f"formula: {formula!r} has public columns alone, which no noise is in. Use another package."
        )
    require_known(given, randomized, "a randomized attribute of the formula, and scores are for these")
    numbers = _numbers(model, allocation, categories)
    kept = [name for name in model.attributes if name not in numbers]
    release = open_released(released, allocation, kept, weight, numbers=numbers)
    columns = {
        name: _as_number(name, release) if name in numbers else _as_category(name, release, allocation, given)
        for name in model.attributes
    }
    axes = {name: axis for name, (axis, _, _) in columns.items()}
    (outcome,) = model.response.attributes
    if categories and outcome not in given:
        axes[outcome] = replace(axes[outcome], scores=np.arange(len(axes[outcome].labels), dtype=np.float64))
    channels = tuple(channel for _, channel, _ in columns.values())
    codes = tuple(code for _, _, code in columns.values())
    cells = compacted(Cells(codes, release.rows, release.weights, release.squares), channels)
    notes = release.notes_of(*model.attributes)
    return Opened(formula, model, columns_of(model, axes, formula), axes, channels, cells, notes)


def model_of(formula: str, names: Sequence[str], *, categories: bool) -> Model:
    """The parsed formula; `InputError` for one that cannot be used. `categories` as in `opened`."""
    try:
        model = parse_formula(formula, names)
    except ProblemError as failure:
        raise InputError.from_faults(failure.faults, "the regression") from None
    try:
        _require_usable(model, categories)
    except FormulaError as failure:
        raise refused(formula, failure) from None
    return model


def require_rows(opened: Opened) -> None:
    """`InputError` unless the rows, or as many as weighted ones are worth, are more than the coefficients."""
    cells, columns = opened.cells, len(opened.columns.columns)
    if min(cells.n, cells.effective) < columns + 2:
        worth = f", which their weights make worth {cells.effective:.3g}" if cells.weights is not None else ""
        raise InputError(
            f"the release: has {cells.n} rows{worth}; a regression with {columns} coefficients needs "
            f"at least {columns + 2}. Give more rows, or use fewer terms."
        )


def _require_usable(model: Model, categories: bool) -> None:
    _require_effect(model)
    outcome = model.response
    both = [term for term in model.terms if term.attributes & outcome.attributes]
    if both:
        name = min(both[0].attributes & outcome.attributes)
        raise FormulaError(
            f"has {name} on both sides", "Take it out on the right: reports of one cell are no two variables."
        )
    if len(outcome.factors) != 1 or outcome.numbers or len(outcome.attributes) != 1:
        what = "one attribute" if categories else "a function of one attribute"
        raise FormulaError(f"has the response {outcome.text}", f"It must be {what}.")
    for term in model.terms:
        require_plain_products(term)


def _require_effect(model: Model) -> None:
    """`FormulaError` for what a formula would leave out in silence."""
    if model.powers:
        one = model.powers[0]
        raise FormulaError(
            f"has a power of {one} alone, which is {one} itself: powers here multiply terms",
            f"Write I({one}**2) for the square.",
        )
    if model.constants:
        one = model.constants[0]
        raise FormulaError(f"has {one}, a function of no attribute", "Write 1 for the intercept, or - 1.")
    if model.unused:
        one = model.unused[0]
        raise FormulaError(
            f"names {one}, which no term has: a minus takes a term out", f"Leave it out, or write I(-{one})."
        )


def _numbers(model: Model, allocation: Allocation, categories: bool) -> tuple[str, ...]:
    """Public columns that stand somewhere as a number, not only in C(...)."""
    terms = model.terms if categories else (*model.terms, model.response)
    used = {factor.attributes[0] for term in terms for factor in term.factors if not is_category_call(factor)}
    return tuple(name for name in allocation.public if name in used)


def _as_number(name: str, release: Released) -> tuple[Axis, Channel, AnyCodes]:
    values, codes = np.unique(release.numbers[name], return_inverse=True)
    labels = tuple(int(value) if value == math.floor(value) else repr(float(value)) for value in values)
    return Axis(name, labels, values), Channel(name, 1.0, uniform(values.size)), codes


def _as_category(
    name: str, release: Released, allocation: Allocation, given: Mapping[str, Sequence[float]]
) -> tuple[Axis, Channel, AnyCodes]:
    axis = Axis(name, release.labels[name], _scores(name, allocation, given))
    return axis, release.channels[name], release.codes[name]


def _scores(name: str, allocation: Allocation, given: Mapping[str, Sequence[float]]) -> FloatArray | None:
    """What was given, else what was declared; None for categories without scores, and public ones."""
    if name in given:
        (design,) = designs_of(allocation, [name], {name: given[name]})
        return design.scores + design.origin
    known = {one.name: one for one in allocation.attributes}
    declared = known[name].score_values if name in known else None
    return None if declared is None else np.array(declared)
