"""A regression formula as a response and terms; formulaic parses it, and nothing in it is ever run.

formulaic's parser does run code: to find the variables of a call it evaluates what is called, and the
arguments of `Q(...)`. So it is given a text without any: every factor is replaced by a mark before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from budget_opt.errors import Fault, ProblemError
from budget_opt.model.formulas.factor import FormulaError
from budget_opt.model.formulas.marks import Marks, ModelTerm
from budget_opt.model.formulas.size import require_few_products, single_powers

LONGEST = 10_000
"""Characters of a formula."""


@dataclass(frozen=True)
class Model:
    """A regression: its response, its terms in the order of the formula, and all attributes in order.

    The intercept, which is a function of no attribute, is not among the terms: `intercept` says whether
    there is one. Three things have no effect, and may be meant otherwise: `powers` of one factor (x**2 is x),
    `constants` (other functions of no attribute), and `unused` attributes, which all terms left out (- x).
    """

    response: ModelTerm
    terms: tuple[ModelTerm, ...]
    attributes: tuple[str, ...]
    intercept: bool = True
    powers: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def parse_formula(formula: str, names: Sequence[str] | None = None, where: str = "formula") -> Model:
    """The model of a formula with one response; `names` are the attributes it may use, None for any.

    `where` is what a fault names. Raises `ProblemError` for what is no such formula, for a name that is not
    an attribute, and where formulaic is not installed.
    """
    try:
        return _model(_text(formula), names)
    except FormulaError as failure:
        fault = Fault(where, formula, failure.limit, failure.remedy)
        raise ProblemError.from_faults([fault], "the rule") from None


def _text(formula: object) -> str:
    if not isinstance(formula, str) or not formula.strip():
        raise FormulaError("must be a formula", 'Write one such as "income ~ education * age".')
    if len(formula) > LONGEST:
        raise FormulaError(f"must have at most {LONGEST:,} characters", "Write several formulas.")
    if formula.rstrip().endswith("~"):
        raise FormulaError("has no term on the right", 'Write "y ~ 1" where only the mean is wanted.')
    return formula


def _model(formula: str, names: Sequence[str] | None) -> Model:
    try:
        from formulaic.errors import FormulaicError
        from formulaic.parser import DefaultFormulaParser
        from formulaic.parser.algos.tokenize import tokenize
        from formulaic.transforms import TRANSFORMS
    except ImportError:
        raise FormulaError(
            "needs the package formulaic",
            "Install it with: python -m pip install 'budget-opt[formulas]', or list the moments.",
        ) from None
    marks = Marks(names, TRANSFORMS)
    parser = DefaultFormulaParser(feature_flags={"twosided"})
    try:
        marked = " ".join([marks.word(token) for token in tokenize(formula)])
        others = {"__formulaic_variables_available__": marks.others()}
        tree = parser.get_ast(marked)
        require_few_products(tree, len(names or ()))
        sides = parser.get_terms(marked, context=others)
    except FormulaicError as failure:
        raise FormulaError(f"cannot be read ({marks.plain(failure)})", "Correct the formula.") from None
    if not hasattr(sides, "lhs"):
        raise FormulaError("has no response", 'Write "response ~ terms"; for links alone use all_pairs.')
    left, right = ([marks.term(term) for term in side] for side in (sides.lhs, sides.rhs))
    powers = tuple(marks.plain(power).strip("`") for power in single_powers(tree))
    model = _checked(left, right, marks.attributes())
    return replace(model, powers=powers, unused=marks.unused((*left, *right)))


def _checked(left: list[ModelTerm], right: list[ModelTerm], attributes: tuple[str, ...]) -> Model:
    if len(left) != 1 or not left[0].attributes:
        raise FormulaError("must have one response", "Write a formula for each, or I(a + b) for a sum.")
    if left[0] in right:
        raise FormulaError(f"has {left[0].text} on both sides", "Take it out on the right.")
    if not right:
        raise FormulaError("has no term on the right", "Name the attributes that explain the response.")
    terms = tuple(term for term in right if term.attributes)
    used = frozenset[str]().union(*(term.attributes for term in (*left, *terms)))
    intercept = any(not term.attributes for term in right)
    constants = tuple(term.text for term in right if term.factors and not term.attributes)
    named = tuple(name for name in attributes if name in used)
    return Model(left[0], terms, named, intercept, constants=constants)
