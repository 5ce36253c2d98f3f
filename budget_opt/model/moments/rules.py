"""Rules of a problem that stand for many moments: formulas, all pairs, pairs with one attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import StrictStr

from budget_opt.errors import MISSING, Fault, InputError
from budget_opt.model.fields import Level, Name, PositiveNumber, Retention, Weight
from budget_opt.model.formulas.needed import needed_moments
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.moments.priorities import pairs_among, pairs_from
from budget_opt.model.parts import Part, below
from budget_opt.model.rules import unknown_names

_KINDS = ("formula", "all_pairs", "pairs_with")
_OF_MOMENTS = ("weight", "floor", "ceiling", "target", "variance", "level")


class MomentRule(Part):
    """One of a regression `formula`, `all_pairs` of the names listed, and the pairs of `pairs_with`.

    `names` are the partners of `pairs_with`, all other attributes by default. The other fields are those of
    a moment and hold for each that the rule stands for (DESIGN 3.1). Raises `ProblemError`.
    """

    noun: ClassVar[str] = "the rule"

    formula: StrictStr | None = None
    all_pairs: tuple[Name, ...] | None = None
    pairs_with: Name | None = None
    names: tuple[Name, ...] | None = None
    weight: Weight = 1.0
    floor: Retention | None = None
    ceiling: Retention | None = None
    target: PositiveNumber = 1.0
    variance: PositiveNumber = 1.0
    level: Level = 1

    def _laws(self) -> list[Fault]:
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            where, value = ", ".join(_KINDS), given or MISSING
            return [Fault(where, value, "exactly one must be given", "Give one of the three.")]
        if self.names is not None and self.pairs_with is None:
            return [Fault("names", list(self.names), 'belongs to "pairs_with"', "Remove it.")]
        return []

    def __str__(self) -> str:
        if self.formula is not None:
            return self.formula
        return "all pairs" if self.all_pairs is not None else f"pairs with {self.pairs_with}"


@dataclass(frozen=True)
class Origin:
    """Why a moment is in a problem: the place that states it (`moments[2]`, `moment_rules[0]`), in words.

    `why` is empty for a moment that is stated itself. `weight` is what this place gives it: where several
    name one moment, their weights are added.
    """

    attributes: tuple[str, ...]
    source: str
    rule: str = ""
    why: str = ""
    weight: float = 1.0


def expand_rule(
    rule: MomentRule, names: Sequence[str], where: str, public: Sequence[str] = ()
) -> tuple[list[CrossMoment], list[Origin], list[Fault]]:
    """The moments of a rule with where each is from, or the faults; `names` are those of the attributes.

    `where` is the rule's path in the file. A rule may name `public` columns; moments of these alone are left
    out, as they are released as they are.
    """
    known = (*names, *public)
    faults = [
        fault
        for field, used in (("all_pairs", rule.all_pairs), ("names", rule.names))
        for fault in unknown_names(f"{where}.{field}", used or (), known)
    ]
    if rule.pairs_with is not None:
        faults += unknown_names(f"{where}.pairs_with", (rule.pairs_with,), known)
    if faults:
        return [], [], faults
    try:
        needed = _needed(rule, names, public)
        reasons = {listed: why for listed, why in needed.items() if not set(listed) <= set(public)}
        fields = {name: getattr(rule, name) for name in _OF_MOMENTS}
        moments = [CrossMoment(*attributes, **fields) for attributes in reasons]
    except InputError as failure:
        return [], [], below(where, failure.faults)
    origins = [Origin(named, where, str(rule), why, rule.weight) for named, why in reasons.items()]
    return moments, origins, []


def _needed(rule: MomentRule, names: Sequence[str], public: Sequence[str]) -> Mapping[tuple[str, ...], str]:
    """The columns of every moment, and why it is needed."""
    if rule.formula is not None:
        # a public column that the formula does not name is not meant by its "."
        named = [name for name in public if name in rule.formula]
        return needed_moments(rule.formula, (*names, *named))
    if rule.all_pairs is not None:
        return dict.fromkeys(pairs_among(rule.all_pairs, "all_pairs"), "one of all pairs")
    assert rule.pairs_with is not None
    pairs = pairs_from(rule.pairs_with, names if rule.names is None else rule.names)
    return dict.fromkeys(pairs, f"pair with {rule.pairs_with}")


def origins_of(
    document: Mapping[str, Any], names: Sequence[str], public: Sequence[str] = ()
) -> tuple[Origin, ...]:
    """Where every moment of a valid problem file comes from, the stated ones first; a line a mention.

    `names` are those of its attributes, `public` those of its public columns.
    """
    stated = [
        Origin(moment.attributes, f"moments[{i}]", weight=moment.weight)
        for i, moment in enumerate(_parts(document, "moments", CrossMoment))
    ]
    rules = enumerate(_parts(document, "moment_rules", MomentRule))
    expanded = [
        origin for i, rule in rules for origin in expand_rule(rule, names, f"moment_rules[{i}]", public)[1]
    ]
    return (*stated, *expanded)


def _parts(document: Mapping[str, Any], field: str, kind: type[Part]) -> Iterable[Any]:
    return [part if isinstance(part, kind) else kind(**part) for part in document.get(field, ())]
