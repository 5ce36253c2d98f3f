r"""The moments that a least-squares regression needs, each with the reason (DESIGN 2.2).

Least squares solves X'X b = X'y. Every entry of X'X and X'y (and y'y, for R^2 and standard errors) is n times
the mean of a product of two terms, and so of a product of functions of single attributes: those of the
union U of the attributes of the two. With f_m = f~_m + mu_m,

    E prod_U f_m  =  sum over T within U of  (prod_{U \ T} mu_m)  E prod_T f~_m

so the entry follows from the means, which the marginals give, and from the centred moments of the subsets T
of U with two attributes or more; by Theorem 1 the release keeps each of them up to its retention, whatever
the functions are. A square, a logarithm, a spline or the indicators of categories are functions of one
attribute and change nothing. A factor of several attributes, such as I(a * b), counts as all of them: like
every function of finitely many categories it is a sum of products of functions of one attribute each. (One
that is a sum, such as I(a + b), would need less; what a factor computes is not looked at.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from budget_opt.model.formulas.marks import ModelTerm
from budget_opt.model.formulas.parsing import Model, parse_formula
from budget_opt.model.moments.priorities import require_few

COUNTED = 100_000
"""Moments that are counted exactly where a formula needs too many."""

Attributes = frozenset[str]


def needed_moments(
    formula: str, names: Sequence[str] | None = None, where: str = "formula"
) -> dict[tuple[str, ...], str]:
    """Why each moment is needed, by its attributes in the formula's order, those of fewer attributes first.

    A response that needs no moment of two attributes (y ~ 1) needs its own. Raises `ProblemError`.
    """
    model = parse_formula(formula, names, where)
    reasons = _reasons(_direct(model, where, formula), where, formula)
    if not reasons:
        return {_ordered(model.response.attributes, model): f"mean of {model.response.text}"}
    listed = {_ordered(moment, model): why for moment, why in reasons.items()}
    rank = {name: i for i, name in enumerate(model.attributes)}
    return dict(sorted(listed.items(), key=lambda item: (len(item[0]), [rank[name] for name in item[0]])))


def _ordered(moment: Attributes, model: Model) -> tuple[str, ...]:
    return tuple(name for name in model.attributes if name in moment)


def _direct(model: Model, where: str, formula: str) -> dict[Attributes, str]:
    """The moments of all attributes of two terms, with the first reason that there is."""
    direct: dict[Attributes, str] = {}
    for union, reason, *terms in _entries(model):
        if len(union) > 1 and union not in direct:
            direct[union] = reason.format(*terms)
            if len(direct) > COUNTED:
                require_few(len(direct), where, formula, exact=False)
    return direct


def _entries(model: Model) -> Iterator[tuple[Attributes, str, *tuple[str, ...]]]:
    """The entries of X'y, X'X and y'y: the attributes of each, what it is for, and its terms."""
    response, terms = model.response, _by_attributes(model.terms)
    for attributes, text in terms.items():
        union = attributes | response.attributes
        yield union, "slope of {}" if len(attributes) == 1 else "interaction {}", text
    for (some, one), (more, other) in combinations(terms.items(), 2):
        yield some | more, "separates {} from {}", one, other
    for attributes, text in terms.items():
        yield attributes, "mean and variance of {}", text
    yield response.attributes, "mean and variance of {}", response.text


def _by_attributes(terms: Sequence[ModelTerm]) -> dict[Attributes, str]:
    """The terms of the same attributes as one, because they need the same moments."""
    texts: dict[Attributes, list[str]] = {}
    for term in terms:
        texts.setdefault(term.attributes, []).append(term.text)
    return {attributes: ", ".join(listed) for attributes, listed in texts.items()}


def _reasons(direct: dict[Attributes, str], where: str, formula: str) -> dict[Attributes, str]:
    """The same for all moments within these: of fewer attributes, part of the smallest that needs it."""
    largest = max(map(len, direct), default=0)
    if 2**largest > COUNTED:
        require_few(2**largest - largest - 1, where, formula, exact=False)
    reasons = dict(direct)
    for union in sorted(direct, key=len):
        for size in range(2, len(union)):
            for part in map(frozenset, combinations(union, size)):
                reasons.setdefault(part, f"part of: {direct[union]}")
        if len(reasons) > COUNTED:
            require_few(len(reasons), where, formula, exact=False)
    require_few(len(reasons), where, formula)
    return reasons
