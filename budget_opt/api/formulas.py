"""The moments that a regression needs, each with the reason, from its formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from budget_opt.model.formulas.needed import needed_moments
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.tables.printing import plain_text, text_table
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class FormulaMoments(Rows, Sequence[CrossMoment]):
    """The moments of a formula: a sequence for `Problem(moments=…)`, and a table of why each is needed.

    `reasons` has one for each of the `moments`, such as "slope of education".
    """

    formula: str
    moments: tuple[CrossMoment, ...]
    reasons: tuple[str, ...]

    @overload
    def __getitem__(self, index: int) -> CrossMoment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CrossMoment, ...]: ...
    def __getitem__(self, index: int | slice) -> CrossMoment | tuple[CrossMoment, ...]:
        return self.moments[index]

    def __len__(self) -> int:
        return len(self.moments)

    def __iter__(self) -> Iterator[CrossMoment]:
        return iter(self.moments)

    def rows(self) -> list[dict[str, Any]]:
        """A row a moment: the attributes in words, and why the regression needs it."""
        return [
            {"moment": moment.label, "why": why}
            for moment, why in zip(self.moments, self.reasons, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Formula, moments as in a problem file, and reasons, as JSON."""
        return {
            "formula": self.formula,
            "moments": [moment.to_dict() for moment in self.moments],
            "reasons": list(self.reasons),
        }

    def renderable(self) -> RenderableType:
        """The table for a rich console."""
        return text_table(("moment", "why it is needed"), [list(row.values()) for row in self.rows()])

    def __str__(self) -> str:
        return plain_text(self.renderable())


def moments_from_formula(
    formula: str, weight: float = 1.0, *, names: Iterable[str] | None = None, **fields: Any
) -> FormulaMoments:
    """The moments that a least-squares regression needs: `moments_from_formula("income ~ education * age")`.

    They are those of all attributes, and of two or more of them, that stand together in two terms of the
    formula, the response counted as a term: from these and the marginals the coefficients follow, whatever
    the functions of single attributes are (`log(income)`, `I(age**2)`, `C(region)`, `bs(age, df=3)`); see
    `budget_opt.model.formulas.needed`. Other models than least squares may need more. The formula is that of
    formulaic (`+ : * / ** - 0 .`, names such as `my income` in backquotes), with one response; it is read
    and never run. `names` are the attributes that it may use, which "." needs; None admits any.
    `fields` are those of a `CrossMoment` (floor, ceiling, target, variance, level) and hold for each.

    Raises `ProblemError` (an `InputError`) for what is no such formula, for more than 10,000 moments, where a
    field cannot be used, and where formulaic, the extra `formulas`, is not installed.
    """
    needed = needed_moments(formula, None if names is None else tuple(names))
    moments = tuple(CrossMoment(*attributes, weight=weight, **fields) for attributes in needed)
    return FormulaMoments(formula, moments, tuple(needed.values()))
